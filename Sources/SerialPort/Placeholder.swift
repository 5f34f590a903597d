// placeholder: replaced as soon as this target has its first type
