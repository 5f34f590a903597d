// placeholder: replaced by the first test
