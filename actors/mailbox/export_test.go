package mailbox

// ShrinkRegistry exports shrinkRegistry for a test with protoactor's registry.
var ShrinkRegistry = shrinkRegistry
