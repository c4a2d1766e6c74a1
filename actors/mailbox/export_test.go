package mailbox

// ShrinkRegistry makes shrinkRegistry available to the tests of package mailbox_test.
var ShrinkRegistry = shrinkRegistry
