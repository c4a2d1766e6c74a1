package sip

import (
	"net/netip"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// digestClient answers the digest challenges to requests that share a Call-ID (RFC 3261 §22).
type digestClient struct {
	credentials *auth.Credentials // nil: challenges are not answered
	signer      *auth.Signer      // created by the first challenge
	headers     []message.Header  // credentials of the INVITE, which its ACK repeats
}

// challengedRequest is a request that got 401 or 407.
type challengedRequest struct {
	method, uri string
	body        []byte
	first       bool // the request carried no credentials
	initial     bool // the request was sent outside of a dialog
}

// answer returns the headers with credentials for a challenged request; nil if the challenge cannot be answered. Only
// peer, the host to which the request was sent, gets credentials.
func (c *digestClient) answer(m *transport.Received, r challengedRequest, peer netip.Addr) []message.Header {
	if c.credentials == nil {
		return nil
	}
	if c.signer == nil {
		c.signer = auth.NewSigner(c.credentials, peer)
	}
	if r.initial {
		c.signer.SetHost(peer)
	} else if r.first {
		c.signer.FreezeRealms()
	}
	if !c.signer.LearnChallenges(&m.Message, m.Flow.Addr.Addr(), r.first) {
		return nil
	}
	return c.signer.SignRequest(r.method, r.uri, r.body)
}
