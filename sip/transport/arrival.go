package transport

import "time"

// Arrival describes how a message arrived.
type Arrival struct {
	Flow       Flow
	Raw        []byte        // the message, in the reader's buffer: valid until the message is handled
	QueueDelay time.Duration // how long the message waited before it was read
	Relay      *RelayInfo    // the statement of the relaying node; nil: the message was not relayed
}

// arrivalSource is a socket. arrival describes the message that is being handled.
type arrivalSource interface{ arrival() Arrival }
