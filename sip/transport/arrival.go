package transport

import "time"

// Arrival is where a message came from.
type Arrival struct {
	Flow       Flow
	Raw        []byte        // the message; the reader's buffer, valid until the message is handled
	QueueDelay time.Duration // how long it waited until it was read
	Relay      *RelayInfo    // the statement of the relaying node; nil: it came directly
}

// arrivalSource is a socket; arrival describes the message that is being handled.
type arrivalSource interface{ arrival() Arrival }
