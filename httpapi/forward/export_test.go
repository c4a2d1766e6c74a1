package forward

import "crypto/tls"

// ConfigOf is how a node speaks TLS to another one.
func ConfigOf(c *Credential) *tls.Config { return c.config() }
