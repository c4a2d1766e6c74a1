package sip

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// sentRequests is a requestSender that records the requests instead of sending them.
type sentRequests struct {
	requests    []dialogRequest
	done        []func(*received, error)
	credentials []message.Header
}

func (s *sentRequests) sendRequest(r dialogRequest, done func(*received, error)) {
	s.requests, s.done = append(s.requests, r), append(s.done, done)
}

func (s *sentRequests) answerChallenge(_ *received, _ string, first bool, _ []byte) []message.Header {
	if first {
		return s.credentials
	}
	return nil
}

// methods returns the methods of the requests sent so far.
func (s *sentRequests) methods() (methods []string) {
	for _, r := range s.requests {
		methods = append(methods, r.method)
	}
	return methods
}

func response(code int) *received {
	return &received{Received: transport.Received{Message: message.Message{Code: code}}}
}

// codes returns a callback that appends the status code of each final response to the slice. An error is recorded as 0.
func codes(to *[]int) func(*received, error) {
	return func(m *received, err error) {
		code := 0
		if err == nil {
			code = m.Code
		}
		*to = append(*to, code)
	}
}

func TestRequestQueueSendsOneRequestAtATime(t *testing.T) {
	sent, got := &sentRequests{}, []int(nil)
	q := requestQueue{sender: sent}
	q.send(dialogRequest{method: message.MethodInfo}, codes(&got))
	q.send(dialogRequest{method: message.MethodRefer}, codes(&got))
	q.send(dialogRequest{method: message.MethodPrack, fork: &fork{}}, codes(&got))
	assert.Equal(t, []string{"INFO", "PRACK"}, sent.methods(), "requests of early dialogs do not wait")
	sent.done[1](response(200), nil)
	assert.Len(t, sent.requests, 2)
	sent.done[0](nil, ErrTimeout)
	require.Equal(t, []string{"INFO", "PRACK", "REFER"}, sent.methods())
	sent.done[2](response(202), nil)
	assert.Equal(t, []int{200, 0, 202}, got)
}

func TestRequestQueueAnswersAChallengeOnce(t *testing.T) {
	sent, got := &sentRequests{credentials: []message.Header{{Name: "Authorization", Value: "Digest"}}}, []int(nil)
	q := requestQueue{sender: sent}
	q.send(dialogRequest{method: message.MethodInfo}, codes(&got))
	q.send(dialogRequest{method: message.MethodInvite, ownCredentials: true}, codes(&got))
	sent.done[0](response(401), nil)
	require.Equal(t, []string{"INFO", "INFO"}, sent.methods(), "before the waiting requests")
	assert.Equal(t, sent.credentials, sent.requests[1].credentials)
	sent.done[1](response(401), nil)
	sent.done[2](response(407), nil)
	assert.Equal(t, []int{401, 407}, got, "a sender with credentials of its own gets the challenge")
}

func TestRequestQueueIsBoundedAndEndsWithDialog(t *testing.T) {
	sent, got := &sentRequests{}, []int(nil)
	q := requestQueue{sender: sent}
	for range maxQueued + 2 {
		q.send(dialogRequest{method: message.MethodInfo}, codes(&got))
	}
	assert.Equal(t, []int{0}, got)
	q.endAll()
	assert.Len(t, got, maxQueued+1)
	sent.done[0](response(200), nil)
	assert.Len(t, sent.requests, 1)
}

func TestResponderStoresLastResponses(t *testing.T) {
	request := func(tag string, cseq uint32, method string) *received {
		return &received{Received: transport.Received{Message: message.Message{From: &message.Party{Tag: tag}, CSeq: cseq, Method: method}}}
	}
	var c responder
	_, known := c.find(request("a", 1, "INFO"))
	assert.False(t, known)
	c.store(request("a", 1, "INFO"), nil)
	b, known := c.find(request("a", 1, "INFO"))
	assert.True(t, known, "a request in progress is known")
	assert.Nil(t, b)
	c.store(request("a", 1, "INFO"), []byte("200"))
	for _, other := range []*received{request("b", 1, "INFO"), request("a", 2, "INFO"), request("a", 1, "OPTIONS")} {
		_, known = c.find(other)
		assert.False(t, known)
	}
	b, _ = c.find(request("a", 1, "INFO"))
	assert.Equal(t, "200", string(b))
	for n := range uint32(maxResponses) {
		c.store(request("a", n+2, "INFO"), nil)
	}
	assert.LessOrEqual(t, len(c.byRequest), maxResponses)
}
