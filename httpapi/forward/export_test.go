package forward

import "crypto/tls"

// ConfigOf exports the TLS configuration of a credential to the tests.
func ConfigOf(c *Credential) *tls.Config { return c.config() }

// Closing returns the number of connections that the router is accepting or closing.
func (d *ConnRouter) Closing() int64 { return d.closing.Load() }
