package sip

import (
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/transport"
)

// Types and errors of the layers below that owners of a user agent use. They are named by their
// own packages as soon as the packages of the callers have come to rest.
type (
	// Listener is transport.Listener.
	Listener = transport.Listener
	// Source is transport.Source.
	Source = transport.Source
	// Whose is cluster.OwnerQuery.
	Whose = cluster.OwnerQuery
)

// The errors of transport.
var (
	ErrHeld   = transport.ErrHeld
	ErrSilent = transport.ErrSilent
)
