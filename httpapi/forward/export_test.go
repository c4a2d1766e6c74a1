package forward

import "crypto/tls"

// ConfigOf is how a node speaks TLS to another one.
func ConfigOf(c *Credential) *tls.Config { return c.config() }

// Closing returns the number of connections that are being accepted or closed.
func (d *ConnRouter) Closing() int64 { return d.closing.Load() }
