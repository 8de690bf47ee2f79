"""What all parts are made with: kinds of exercises, the ledger, plots and explorers."""
