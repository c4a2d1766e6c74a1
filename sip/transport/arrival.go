package transport

import "time"

// Arrival describes how a message arrived.
type Arrival struct {
	Flow       Flow
	Raw        []byte        // the message, in the reader's buffer: valid until the message is handled
	QueueDelay time.Duration // how long the message waited before it was read
	Relay      *RelayInfo    // content of the relay header; nil: the message was not relayed
}

// arrivalSource is a socket from which messages are read. arrival describes how the message that is being handled arrived.
type arrivalSource interface{ arrival() Arrival }
