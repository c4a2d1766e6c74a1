package node_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// createMessageAgent creates a phone number and its agent, which replies to SMS messages.
func (h *fixture) createMessageAgent(own string, replies int, w domain.Pathway) {
	h.Helper()
	w.Name = "w"
	stored, err := h.services().Pathways.CreatePathway(h.Context(), h.test, &w)
	require.NoError(h, err)
	a, err := h.services().Agents.CreateAgent(h.Context(), h.test, &domain.Agent{
		Name: "w", PathwayID: stored.ID, Language: "en-US", Timezone: "UTC", SMS: &domain.AgentSMS{Enabled: true, TimeoutMinutes: 60, MaxReplies: replies},
	})
	require.NoError(h, err)
	_, err = h.services().Numbers.CreateNumber(h.Context(), h.test, &domain.PhoneNumber{Number: own, AgentID: a.ID})
	require.NoError(h, err)
}

func (h *fixture) receiveText(from, to, body string) string {
	h.Helper()
	m, err := h.services().SMS.TestInboundMessage(h.Context(), h.test, sms.InboundMessage{From: from, To: to, Body: body})
	require.NoError(h, err)
	return m.ID
}

// waitForReply waits until the node has finished its work on an inbound message.
func (h *fixture) waitForReply(id string) *domain.Message {
	h.Helper()
	var m *domain.Message
	h.waitUntil(longWait, "the message is answered", func() bool {
		var err error
		m, err = h.services().SMS.Message(h.Context(), h.test, id)
		return err == nil && m.Todo == ""
	})
	return m
}

// messagesTo returns the SMS messages sent to a phone number, oldest first.
func (h *fixture) messagesTo(to string) (out []*domain.Message) {
	h.Helper()
	l, err := h.services().SMS.ListMessages(h.Context(), h.test, sms.MessageQuery{PageQuery: record.PageQuery{Limit: 100}, To: to})
	require.NoError(h, err)
	slices.Reverse(l.Data)
	return l.Data
}

func (h *fixture) textConversations(contact string) []*domain.SMSConversation {
	h.Helper()
	l, err := h.services().SMS.ListConversations(h.Context(), h.test, sms.ConversationQuery{PageQuery: record.PageQuery{Limit: 100}, Contact: contact})
	require.NoError(h, err)
	return l.Data
}

// chainPathway returns a pathway with n copies of a node in a row and a question at the end.
func chainPathway(n int, node domain.Node) domain.Pathway {
	w := domain.Pathway{Start: "n0", Nodes: []domain.Node{
		{ID: "ask", Type: domain.NodeCollect, Input: "dtmf", Prompt: "What now?", Length: 1, Retries: 3}, {ID: "end", Type: domain.NodeEnd, Prompt: "Goodbye."},
	}, Edges: []domain.Edge{{From: "ask", To: "end", When: domain.When{Type: domain.EdgeElse}}}}
	for i := range n {
		node.ID = fmt.Sprintf("n%d", i)
		next := fmt.Sprintf("n%d", i+1)
		if i == n-1 {
			next = "ask"
		}
		w.Nodes = append(w.Nodes, node)
		w.Edges = append(w.Edges, domain.Edge{From: node.ID, To: next, When: domain.When{Type: domain.EdgeAlways}})
	}
	return w
}

// countingTool is an HTTP tool that counts its requests and can delay its replies.
type countingTool struct {
	requests atomic.Int32
	at       atomic.Pointer[chan struct{}]
}

func (h *fixture) createCountingTool() (*countingTool, domain.Node) {
	h.Helper()
	t := &countingTool{}
	far := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.requests.Add(1)
		if at := t.at.Load(); at != nil {
			<-*at
		}
	}))
	h.Cleanup(far.Close)
	h.receiver.roots.AddCert(far.Certificate())
	tool, err := h.services().Tools.CreateTool(h.Context(), h.test, &domain.Tool{
		Name: "count", Description: "Counts.", Parameters: map[string]any{"type": "object"},
		HTTP: &domain.ToolHTTP{Method: "POST", URL: far.URL, TimeoutMs: 30000},
	})
	require.NoError(h, err)
	return t, domain.Node{Type: domain.NodeTool, ToolID: tool.ID}
}

// textConversationOf returns the text conversation that a commit stores. It returns nil if the commit stores none.
func textConversationOf(c commit.Change) *domain.SMSConversation {
	for _, r := range c.Puts {
		if t, ok := r.(*domain.SMSConversation); ok {
			return t
		}
	}
	return nil
}

func TestRetriedSMSReplyRunsEachToolOnce(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	tool, node := h.createCountingTool()
	const own, ada, eve, kim = "+15005550310", "+15005551201", "+15005551202", "+15005551203"
	h.createMessageAgent(own, 20, chainPathway(1, node))

	var once atomic.Bool
	m.inject(func(c commit.Change, do func() error) error {
		if x := textConversationOf(c); x != nil && len(x.Turns) > 0 && len(x.Turns[0].Acts) > 0 && x.Turns[0].Acts[0].Over && once.CompareAndSwap(false, true) {
			return errUnknownOutcome
		}
		return do()
	}, nil)
	h.waitForReply(h.receiveText(ada, own, "Hi"))
	m.inject(nil, nil)
	assert.True(t, once.Load())
	assert.Equal(t, int32(1), tool.requests.Load(), "the tool does not run again")
	assert.Len(t, h.textConversations(ada), 1)
	assert.Len(t, h.messagesTo(ada), 1)

	gate := make(chan struct{})
	tool.at.Store(&gate)
	id := h.receiveText(eve, own, "Hi")
	h.waitUntil(longWait, "the tool is called", func() bool { return tool.requests.Load() == 2 })
	require.Len(t, h.textConversations(eve), 1)
	_, err := h.services().SMS.CloseConversation(t.Context(), h.test, h.textConversations(eve)[0].ID)
	require.NoError(t, err)
	tool.at.Store(nil)
	close(gate)
	closed := h.waitForReply(id)
	assert.Equal(t, int32(2), tool.requests.Load(), "closing the conversation ends the reply")
	require.Len(t, h.textConversations(eve), 1)
	assert.Equal(t, h.textConversations(eve)[0].ID, closed.ConversationID)
	assert.Empty(t, h.messagesTo(eve))

	const long = "+15005550311"
	h.createMessageAgent(long, 20, chainPathway(14, node))
	h.waitForReply(h.receiveText(kim, long, "Hi"))
	assert.Equal(t, int32(14), tool.requests.Load(), "a reply calls at most twelve tools")
	h.waitForReply(h.receiveText(kim, long, "Well"))
	assert.Equal(t, int32(14), tool.requests.Load(), "the refused tool call is not repeated")
	got := h.messagesTo(kim)
	require.Len(t, got, 2)
	assert.Equal(t, "What now?", got[0].Body)
}

func TestSMSConversationBetweenTwoAgentsStops(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	const first, own, bob = "+15005550312", "+15005550313", "+15005551204"
	h.createMessageAgent(first, 3, domain.Pathway{Start: "end", Nodes: []domain.Node{{ID: "end", Type: domain.NodeEnd, Prompt: "I am away."}}})
	for i := range 5 {
		m := h.waitForReply(h.receiveText(bob, first, "I am away, too."))
		assert.Equal(t, i < 3, m.ConversationID != "")
	}
	assert.Len(t, h.messagesTo(bob), 3)

	h.createMessageAgent(own, 3, chainPathway(1, domain.Node{Type: domain.NodeSMS, Body: "A note."}))
	h.waitForReply(h.receiveText(bob, own, "Hi"))
	got := h.messagesTo(bob)
	require.Len(t, got, 5, "another number answers him still")
	for _, m := range got[3:] {
		assert.Equal(t, own, m.From, "%s", m.Body)
	}
}

func TestSMSOptOutIsStoredAlthoughTheConversationCommitFails(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	const own, ada, eve = "+15005550314", "+15005551205", "+15005551206"
	h.createMessageAgent(own, 20, domain.Pathway{Start: "end", Nodes: []domain.Node{{ID: "end", Type: domain.NodeEnd, Prompt: "Never again.", Set: &domain.Assign{AddToDNC: true}}}})
	var once, collide atomic.Bool
	m.inject(func(c commit.Change, do func() error) error {
		if textConversationOf(c) != nil && once.CompareAndSwap(false, true) {
			return errUnknownOutcome
		}
		return do()
	}, nil)
	id := h.receiveText(ada, own, "Hi")
	h.waitUntil(longWait, "the number is on the list", func() bool { return countEvents(h.events(h.test.WorkspaceID), event.ContactOptedOut)[id] == 1 })
	h.waitForReply(id)
	got := h.messagesTo(ada)
	require.Len(t, got, 1)
	assert.True(t, strings.HasPrefix(got[0].Body, "Never again."))

	m.inject(func(c commit.Change, do func() error) error {
		if hasPut(c, "sms_stop") && len(c.Puts) > 1 && collide.CompareAndSwap(false, true) {
			return fmt.Errorf("sms_conversation: %w", domain.ErrConflict)
		}
		return do()
	}, nil)
	stop := h.receiveText(eve, own, "STOP")
	assert.True(t, collide.Load())
	h.waitForReply(stop)
	assert.Len(t, h.messagesTo(eve), 1, "the notice")
	h.waitUntil(time.Minute, "the number is on the list", func() bool { return countEvents(h.events(h.test.WorkspaceID), event.ContactOptedOut)[stop] == 1 })
}
