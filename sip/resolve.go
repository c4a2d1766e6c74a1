package sip

// Resolver finds the addresses of targets by NAPTR, SRV, A and AAAA (RFC 3263).
type Resolver struct{}
