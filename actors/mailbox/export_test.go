package mailbox

// Fold is fold, which the tests hold to protoactor's registry.
var ShrinkRegistry = shrinkRegistry
