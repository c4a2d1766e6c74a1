package forward

import "crypto/tls"

// ConfigOf is how a node speaks TLS to another one.
func ConfigOf(c *Credential) *tls.Config { return c.config() }

// Greeting is how many connections the doors speak with that no seat has yet.
func (d *Doors) Greeting() int64 { return d.byes.Load() }
