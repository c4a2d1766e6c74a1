// Package textmessage sends text messages by SIP MESSAGE outside of any dialog (RFC 3428).
package textmessage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	addressTimeout = 10 * time.Second // for the response of an address, unless it is the last one
)

// Agent creates clients for requests outside of any dialog.
type Agent interface {
	NewStandaloneClient(c sip.StandaloneConfig) (*sip.StandaloneClient, error)
}

// Message is a text message that is sent as one SIP MESSAGE.
type Message struct {
	// Name is the input from which Call-ID, tag and branch are derived. The peer treats another message with the same
	// Name as a retransmission, as long as it remembers the first one (RFC 3261 §17.2.3).
	Name        string
	Environment domain.Environment // as in sip.Invite
	Target      resolve.Target
	Proxy       *resolve.Target // outbound proxy: the message is sent there with a Route, and Target stays in the Request-URI
	Credentials *auth.Credentials
	To, From    string // users, preferably in E.164 format
	FromDomain  string // "": the public host
	ContentType string
	Body        []byte        // at most 8 KiB
	Timeout     time.Duration // for the last address. Default: 32 s, and 10 s for the addresses before
}

// Client sends messages.
type Client struct{ agent Agent }

// NewClient returns a client that sends by agent.
func NewClient(agent Agent) *Client { return &Client{agent} }

// Send sends a MESSAGE and waits for its final response, which may be a failure. Final.Code is 0 if none arrived.
// An error means that nothing was sent or that ctx has ended.
func (c *Client) Send(ctx context.Context, m *Message) (outcome.Final, error) {
	d, err := c.newDelivery(m)
	if err != nil {
		return outcome.Final{}, err
	}
	d.requests.Do(func() {
		d.requests.FindAddresses(func(addresses []resolve.Target, _ bool) {
			switch {
			case ctx.Err() != nil:
			case len(addresses) == 0:
				d.report(outcome.Final{TransportFailure: true, Phrase: "no address for the target"})
			default:
				d.addresses = addresses
				d.tryNextAddress()
			}
		})
	})
	select {
	case f := <-d.result:
		d.requests.Do(d.requests.Release)
		return f, nil
	case <-ctx.Done():
		f := outcome.Final{}
		d.requests.Do(func() {
			f.NoResponse, f.Sent = d.sent, d.sent
			d.requests.Release()
		})
		return f, ctx.Err()
	}
}

func (c *Client) newDelivery(m *Message) (*delivery, error) {
	to, err := message.EscapeUser(m.To)
	if err != nil {
		return nil, err
	}
	from, err := message.EscapeUser(m.From)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Name == "":
		return nil, errors.New("sip: Name is not set")
	case len(m.Body) == 0 || len(m.Body) > sip.MaxBody || m.ContentType == "":
		return nil, fmt.Errorf("sip: a message has a body of 1 to %d bytes and its type", sip.MaxBody)
	}
	d := &delivery{message: m, result: make(chan outcome.Final, 1)}
	d.uri = "sip:" + to + "@" + m.Target.WithName().HostPort()
	d.requests, err = c.agent.NewStandaloneClient(sip.StandaloneConfig{
		Name: "text " + m.Name, FromUser: from, FromDomain: m.FromDomain, To: d.uri, Environment: m.Environment, Target: m.Target, Proxy: m.Proxy,
	})
	return d, err
}

// delivery sends a message to the addresses of its target, one after another. The lock of requests guards its fields.
type delivery struct {
	requests  *sip.StandaloneClient
	message   *Message
	uri       string
	addresses []resolve.Target // addresses not tried yet
	signer    *auth.Signer     // of the current address; nil: there was no challenge
	headers   []message.Header // credentials for the current address
	sent      bool
	result    chan outcome.Final
}

func (d *delivery) tryNextAddress() {
	d.requests.UseAddress(d.addresses[0])
	d.addresses = d.addresses[1:]
	d.signer, d.headers = nil, nil
	d.sendMessage()
}

func (d *delivery) sendMessage() {
	timeout := max(d.message.Timeout, 0)
	if len(d.addresses) > 0 && (timeout == 0 || timeout > addressTimeout) {
		timeout = addressTimeout
	}
	d.sent = true
	d.requests.Send(sip.StandaloneRequest{
		Method: message.MethodMessage, ContentType: d.message.ContentType, Body: d.message.Body, Headers: d.headers, Timeout: timeout,
	}, d.handleResponse)
}

// handleResponse handles the final response of one address. m is nil if none arrived; err is then the reason.
func (d *delivery) handleResponse(m *transport.Received, err error) {
	switch {
	case m != nil && m.Code < 300:
		d.report(outcome.Final{Code: m.Code, Phrase: m.Phrase})
	case m != nil && m.IsChallenge() && d.answerChallenge(m):
		d.sendMessage()
	case len(d.addresses) > 0 && (m == nil || slices.Contains([]int{408, 503}, m.Code)): // another address of the target may accept it (RFC 3263 §4.3)
		d.tryNextAddress()
	case m != nil:
		f := outcome.ReadFinal(&m.Message)
		f.Authenticated = d.headers != nil
		d.report(f)
	case errors.Is(err, sip.ErrTimeout):
		d.report(outcome.Final{NoResponse: true})
	default:
		d.report(outcome.Final{TransportFailure: true, Phrase: err.Error()})
	}
}

// answerChallenge computes the credentials for the challenge of the current address. It returns false if the challenge
// cannot be answered.
func (d *delivery) answerChallenge(m *transport.Received) bool {
	if d.message.Credentials == nil {
		return false
	}
	if d.signer == nil {
		d.signer = auth.NewSigner(d.message.Credentials, d.requests.Address().Addr())
	}
	if !d.signer.LearnChallenges(&m.Message, m.Flow.Addr.Addr(), d.headers == nil) {
		return false
	}
	headers := d.signer.SignRequest(message.MethodMessage, d.uri, d.message.Body)
	if headers != nil {
		d.headers = headers
	}
	return headers != nil
}

func (d *delivery) report(f outcome.Final) {
	f.Sent = d.sent
	select {
	case d.result <- f:
	default:
	}
}
