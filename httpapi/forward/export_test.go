package forward

import "crypto/tls"

// ConfigOf returns the TLS configuration of a credential, for tests.
func ConfigOf(c *Credential) *tls.Config { return c.config() }

// Closing returns the number of connections that are being accepted or closed.
func (d *ConnRouter) Closing() int64 { return d.closing.Load() }
