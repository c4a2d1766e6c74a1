package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// smsCenter is a carrier's SMS center (SMSC) on a UDP socket. It answers each SIP MESSAGE as the test configures, and
// can send MESSAGEs itself.
type smsCenter struct {
	h      *fixture
	conn   *net.UDPConn
	got    chan sipText // MESSAGEs that the node sent
	back   chan sipText // responses to MESSAGEs of the center
	mu     sync.Mutex
	answer func(m sipText) string // returns the status line; "": no response
	sent   int
}

// sipText is a parsed SIP request or response, with its text as received.
type sipText struct {
	line, body string
	header     map[string]string // first value of each header field, names in lower case
	raw        string
}

func readText(b []byte) sipText {
	head, body, _ := strings.Cut(string(b), "\r\n\r\n")
	m := sipText{body: body, header: make(map[string]string), raw: string(b)}
	for i, l := range strings.Split(head, "\r\n") {
		if i == 0 {
			m.line = l
			continue
		}
		name, value, _ := strings.Cut(l, ":")
		if name = strings.ToLower(name); m.header[name] == "" {
			m.header[name] = strings.TrimSpace(value)
		}
	}
	return m
}

func newSMSCenter(h *fixture) *smsCenter {
	h.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(h, err)
	c := &smsCenter{h: h, conn: conn, got: make(chan sipText, 64), back: make(chan sipText, 64)}
	c.setAnswers("SIP/2.0 200 OK")
	go func() {
		b := make([]byte, 65536)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			m := readText(b[:n])
			if strings.HasPrefix(m.line, "SIP/2.0") {
				c.back <- m
				continue
			}
			c.mu.Lock()
			answer := c.answer(m)
			c.mu.Unlock()
			c.got <- m
			if answer != "" {
				c.write(from, answer, m)
			}
		}
	}()
	h.Cleanup(func() { _ = conn.Close() })
	return c
}

func (c *smsCenter) write(to netip.AddrPort, answer string, m sipText) {
	h := m.header
	_, _ = c.conn.WriteToUDPAddrPort([]byte(answer+"\r\nVia: "+h["via"]+"\r\nFrom: "+h["from"]+"\r\nTo: "+h["to"]+";tag=c\r\nCall-ID: "+h["call-id"]+"\r\nCSeq: "+h["cseq"]+
		"\r\nContent-Length: 0\r\n\r\n"), to)
}

// setAnswers sets the status lines with which the center answers the next MESSAGEs. The last status line repeats.
func (c *smsCenter) setAnswers(lines ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = func(sipText) string {
		line := lines[0]
		if len(lines) > 1 {
			lines = lines[1:]
		}
		return line
	}
}

func (c *smsCenter) port() int {
	at, err := netip.ParseAddrPort(c.conn.LocalAddr().String())
	require.NoError(c.h, err)
	return int(at.Port())
}

// nextMessage returns the next MESSAGE that the node sent.
func (c *smsCenter) nextMessage() sipText {
	c.h.Helper()
	select {
	case m := <-c.got:
		return m
	case <-time.After(longWait):
		require.Fail(c.h, "no message arrived")
	}
	panic("unreachable")
}

// send sends a MESSAGE with a Call-ID and returns the response.
func (c *smsCenter) send(callID, to, contentType, body string) sipText {
	const from = "+12025550123"
	c.h.Helper()
	c.sent++
	at := c.h.ua.Addr("udp")
	_, err := c.conn.WriteToUDPAddrPort(fmt.Appendf(nil, "MESSAGE sip:%s@%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;rport;branch=z9hG4bK%d\r\nFrom: <sip:%s@carrier>;tag=a\r\nTo: <sip:%s@us>\r\n"+
		"Call-ID: %s\r\nCSeq: 1 MESSAGE\r\nMax-Forwards: 70\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		to, at, c.conn.LocalAddr(), c.sent, from, to, callID, contentType, len(body), body), at)
	require.NoError(c.h, err)
	select {
	case m := <-c.back:
		return m
	case <-time.After(longWait):
		require.Fail(c.h, "no response arrived")
	}
	panic("unreachable")
}

// createTrunk creates a trunk to the SMS center and a phone number that belongs to the trunk.
func (c *smsCenter) createTrunk(as, own string) *domain.Trunk {
	h := c.h
	h.Helper()
	t, err := h.services().Trunks.CreateTrunk(h.Context(), h.live, &domain.Trunk{
		Name: "carrier", Proxies: []domain.Proxy{{Host: "127.0.0.1", Port: c.port(), Transport: "udp", Weight: 1}}, NumberFormat: "e164", SMS: as,
	})
	require.NoError(h, err)
	if own != "" {
		_, err = h.services().Numbers.CreateNumber(h.Context(), h.live, &domain.PhoneNumber{Number: own, AgentID: h.createAgent(h.live, keyMenuPathway()), TrunkID: t.ID, SMSEnabled: true})
		require.NoError(h, err)
	}
	h.waitUntil(10*time.Second, "the trunk admits", func() bool {
		return len(h.node.TrunkSources().TrunksAt(netip.MustParseAddrPort(c.conn.LocalAddr().String()))) > 0
	})
	return t
}

func (h *fixture) getMessage(id string) *domain.Message {
	h.Helper()
	m, err := h.services().SMS.Message(h.Context(), h.live, id)
	require.NoError(h, err)
	return m
}

// waitForMessageStatus waits until a message has a status.
func (h *fixture) waitForMessageStatus(id string, status domain.MessageStatus) (m *domain.Message) {
	h.Helper()
	h.waitUntil(10*time.Second, "the message is "+string(status), func() bool {
		m = h.getMessage(id)
		return m.Status == status && m.Todo != domain.TodoAwaitResponse
	})
	return m
}

func imdnOf(id, status string) string {
	return "From: <sip:a@b>\r\nTo: <sip:c@d>\r\nNS: imdn <urn:ietf:params:imdn>\r\nimdn.Message-ID: x\r\n\r\nContent-Type: message/imdn+xml\r\n\r\n" +
		`<?xml version="1.0"?><imdn xmlns="urn:ietf:params:xml:ns:imdn"><message-id>` + id + `</message-id><delivery-notification><status><` + status + `/></status></delivery-notification></imdn>`
}

func TestLiveSMSIsSentOverATrunkAndItsDeliveryReportStored(t *testing.T) {
	h := newFixture(t, nil)
	c := newSMSCenter(h)
	trunk := c.createTrunk(domain.SMSIMDN, "+12025550171")
	order := domain.NewMessage{To: "+12025550123", Body: "Grüße, {{who}}.", Context: domain.Context{"who": "Ada"}}
	c.setAnswers("SIP/2.0 202 Accepted")
	m, err := h.services().SMS.SendMessage(h.Context(), h.live, order)
	require.NoError(t, err)
	assert.Equal(t, domain.MessageQueued, m.Status)
	seen := c.nextMessage()
	assert.Equal(t, "MESSAGE sip:+12025550123@127.0.0.1:"+strconv.Itoa(c.port())+" SIP/2.0", seen.line)
	assert.Contains(t, seen.header["from"], "sip:+12025550171@")
	assert.Equal(t, "message/cpim", seen.header["content-type"])
	assert.Contains(t, seen.body, "imdn.Message-ID: "+m.ID+"\r\n")
	assert.True(t, strings.HasSuffix(seen.body, "\r\n\r\nGrüße, Ada."), seen.body)
	sent := h.waitForMessageStatus(m.ID, domain.MessageSent)
	assert.Equal(t, []any{trunk.ID, 1, true}, []any{sent.RouteID, sent.Tries, sent.SentAt != nil})

	assert.Contains(t, c.send("r1", "+12025550171", "message/cpim", imdnOf(m.ID, "delivered")).line, "200")
	assert.NotNil(t, h.getMessage(m.ID).DeliveredAt, "the report is stored before the response")
	assert.Contains(t, c.send("r2", "+12025550171", "message/cpim", imdnOf(m.ID, "failed")).line, "200")
	assert.Equal(t, domain.MessageDelivered, h.getMessage(m.ID).Status, "a delivered message stays delivered")
	assert.Contains(t, c.send("r3", "+12025550171", "message/cpim", imdnOf("msg_unknown", "delivered")).line, "200")

	c.setAnswers("SIP/2.0 404 Not Found")
	bad, err := h.services().SMS.SendMessage(h.Context(), h.live, order)
	require.NoError(t, err)
	assert.Equal(t, "invalid_number", h.waitForMessageStatus(bad.ID, domain.MessageFailed).ErrorCode)
	c.setAnswers("SIP/2.0 503 Busy", "SIP/2.0 200 OK")
	again, err := h.services().SMS.SendMessage(h.Context(), h.live, order)
	require.NoError(t, err)
	assert.Equal(t, 2, h.waitForMessageStatus(again.ID, domain.MessageSent).Tries, "after 5 seconds")
	events := h.events(h.live.WorkspaceID)
	assert.Equal(t, map[string]int{m.ID: 1, again.ID: 1}, countEvents(events, event.SMSSent))
	assert.Equal(t, map[string]int{m.ID: 1}, countEvents(events, event.SMSDelivered))
	assert.Equal(t, map[string]int{bad.ID: 1}, countEvents(events, event.SMSFailed))
	day := domain.Usage{WorkspaceID: h.live.WorkspaceID, Day: domain.Day(time.Now())}
	_, err = h.store.Get(context.Background(), &day)
	require.NoError(t, err)
	assert.Equal(t, 2, day.SMS())
}

func TestInboundSMSIsStoredOnceAndAnOptOutGetsANotice(t *testing.T) {
	h := newFixture(t, nil)
	c := newSMSCenter(h)
	c.createTrunk(domain.SMSPlain, "+12025550171")
	received := func() []*domain.Message {
		l, err := h.services().SMS.ListMessages(h.Context(), h.live, sms.MessageQuery{PageQuery: record.PageQuery{Limit: 100}, Direction: domain.Inbound})
		require.NoError(t, err)
		return l.Data
	}
	assert.Contains(t, c.send("one", "+12025550171", "text/plain;charset=utf-8", "Grüße").line, "200")
	require.Len(t, received(), 1, "the message is stored before the response")
	m := received()[0]
	assert.Equal(t, []any{"+12025550123", "+12025550171", "Grüße", domain.MessageReceived, false}, []any{m.From, m.To, m.Body, m.Status, m.OptOut})
	h.shutdown()
	h.start()
	assert.Contains(t, c.send("one", "+12025550171", "text/plain", "Grüße").line, "200", "sent again to the next process")
	assert.Len(t, received(), 1)
	assert.Contains(t, c.send("two", "+12025559999", "text/plain", "x").line, "404")
	assert.Contains(t, c.send("three", "+12025550171", "text/html", "x").line, "415")
	assert.Contains(t, c.send("four", "+12025550171", "text/plain", "\xff").line, "400")

	assert.Contains(t, c.send("five", "+12025550171", "text/plain", " Stop. ").line, "200")
	notice := c.nextMessage()
	assert.Equal(t, "text/plain;charset=utf-8", notice.header["content-type"])
	assert.Contains(t, notice.body, "no more messages")
	assert.True(t, received()[0].OptOut)
	_, err := h.services().SMS.SendMessage(h.Context(), h.live, domain.NewMessage{To: "+12025550123", Body: "Please."})
	assert.Equal(t, domain.CodeOptedOut, domain.CodeOf(err))
	assert.Contains(t, c.send("six", "+12025550171", "text/plain", "STOP").line, "200")
	h.waitForMessages(h.live)
	assert.Empty(t, c.got, "one notice is sent")
	events := h.events(h.live.WorkspaceID)
	assert.Len(t, countEvents(events, event.SMSReceived), 3)
	assert.Len(t, countEvents(events, event.ContactOptedOut), 1)

	silent := newSMSCenter(h)
	silent.createTrunk(domain.SMSOff, "")
	assert.Contains(t, silent.send("seven", "+12025559998", "text/plain", "x").line, "40", "a trunk without SMS and an unknown number")
}

func TestSMSInterruptedByACrashIsNotSentTwice(t *testing.T) {
	h := newFixture(t, nil)
	c := newSMSCenter(h)
	c.createTrunk(domain.SMSPlain, "+12025550171")
	c.setAnswers("")
	m, err := h.services().SMS.SendMessage(h.Context(), h.live, domain.NewMessage{To: "+12025550123", Body: "Hello."})
	require.NoError(t, err)
	first, since := c.nextMessage(), time.Now()
	h.shutdown()
	c.setAnswers("SIP/2.0 200 OK")
	for len(c.got) > 0 {
		<-c.got
	}
	h.start()
	if time.Since(since) > 15*time.Second { // after this time the node may not send the message again
		h.waitUntil(10*time.Second, "the message is final", func() bool { return h.getMessage(m.ID).Status != domain.MessageQueued })
		return
	}
	second := c.nextMessage()
	for _, name := range []string{"from", "call-id", "cseq"} {
		assert.Equal(t, first.header[name], second.header[name], name)
	}
	_, branch, _ := strings.Cut(first.header["via"], "branch=")
	assert.Contains(t, second.header["via"], branch)
	assert.Equal(t, 1, h.waitForMessageStatus(m.ID, domain.MessageSent).Tries)

	c.setAnswers("")
	long, err := h.services().SMS.SendMessage(h.Context(), h.live, domain.NewMessage{To: "+12025550123", Body: strings.Repeat("long ", 150)})
	require.NoError(t, err)
	c.nextMessage()
	h.shutdown()
	c.setAnswers("SIP/2.0 200 OK")
	h.start()
	lost := h.waitForMessageStatus(long.ID, domain.MessageFailed)
	assert.Equal(t, domain.CodeDeliveryUnknown, lost.ErrorCode)
	assert.Equal(t, map[string]int{long.ID: 1}, countEvents(h.events(h.live.WorkspaceID), event.SMSFailed))
}

func TestSMSFailsIfTheSendersTrunkRefusesTheDestination(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d := h.Context(), h.services()
	newSMSCenter(h).createTrunk(domain.SMSPlain, "") // another route, which cannot carry the sender's number
	c := newSMSCenter(h)
	trunk := c.createTrunk(domain.SMSPlain, "+12025550171")
	answer := make(chan struct{})
	c.mu.Lock()
	c.answer = func(sipText) string {
		<-answer
		return "SIP/2.0 200 OK"
	}
	c.mu.Unlock()
	order := domain.NewMessage{To: "+12025550123", Body: "Hello."}
	first, err := d.SMS.SendMessage(ctx, h.live, order)
	require.NoError(t, err)
	h.waitUntil(10*time.Second, "the first is with the carrier", func() bool { return h.getMessage(first.ID).Todo == domain.TodoAwaitResponse })
	second, err := d.SMS.SendMessage(ctx, h.live, order) // waits for the first message to the same number
	require.NoError(t, err)
	_, err = d.Trunks.UpdateTrunk(ctx, h.live, trunk.ID, func(x *domain.Trunk) error {
		x.NumberStrip = "+1202" // the rewritten number is not E.164
		return nil
	})
	require.NoError(t, err)
	close(answer)
	h.waitForMessageStatus(first.ID, domain.MessageSent)
	failed := h.waitForMessageStatus(second.ID, domain.MessageFailed)
	assert.Equal(t, []any{string(domain.CodeDestinationNotAllowed), domain.MessageTodo(""), 0}, []any{failed.ErrorCode, failed.Todo, failed.Tries})
	assert.Contains(t, failed.ErrorMessage, "number_strip")
	assert.Equal(t, map[string]int{second.ID: 1}, countEvents(h.events(h.live.WorkspaceID), event.SMSFailed))

	_, err = d.SMS.SendMessage(ctx, h.live, order)
	assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err), "the message is refused before it is queued")
}

func TestSMSGatewaySendsAndReceivesMessages(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d := h.Context(), h.services()
	type post struct {
		header http.Header
		body   []byte
	}
	posts, status := make(chan post, 16), make(chan int, 16)
	handler := func(w http.ResponseWriter, r *http.Request, body []byte) {
		posts <- post{r.Header, body}
		if code := <-status; code > 0 {
			w.WriteHeader(code)
			return
		}
		<-r.Context().Done() // no response
	}
	h.receiver.other.Store(&handler)
	g, err := d.SMS.CreateSMSGateway(ctx, h.live, &domain.SMSGateway{Name: "house", URL: h.receiver.url + "/sms"})
	require.NoError(t, err)
	_, err = d.SMS.CreateSMSGateway(ctx, h.live, &domain.SMSGateway{Name: "inside", URL: "https://10.0.0.1/sms"})
	assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err))
	_, err = d.SMS.CreateSMSGateway(ctx, h.test, &domain.SMSGateway{Name: "house", URL: h.receiver.url + "/sms"})
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	_, err = d.Numbers.CreateNumber(ctx, h.live, &domain.PhoneNumber{Number: "+12025550171", AgentID: h.createAgent(h.live, keyMenuPathway()), SMSEnabled: true})
	require.NoError(t, err)

	status <- 429
	status <- 200
	m, err := d.SMS.SendMessage(ctx, h.live, domain.NewMessage{To: "+12025550123", Body: "Hello."})
	require.NoError(t, err)
	first, second := <-posts, <-posts
	assert.Equal(t, first.header.Get("Idempotency-Key"), m.ID)
	assert.Equal(t, first.body, second.body)
	assert.Equal(t, webhook.Sign(g.Secret, first.body), first.header.Get("X-Svc-Signature"))
	assert.NotEmpty(t, first.header.Get("Webhook-Signature"))
	var firstBody map[string]any
	require.NoError(t, json.Unmarshal(first.body, &firstBody))
	assert.Equal(t, []any{m.ID, "+12025550171", "+12025550123", "Hello.", 1.0, "gsm7"},
		[]any{firstBody["message_id"], firstBody["from"], firstBody["to"], firstBody["body"], firstBody["segments"], firstBody["encoding"]})
	assert.Equal(t, g.ID, h.waitForMessageStatus(m.ID, domain.MessageSent).RouteID)

	status <- 0
	cut, err := d.SMS.SendMessage(ctx, h.live, domain.NewMessage{To: "+12025550124", Body: "Hello."})
	require.NoError(t, err)
	before := <-posts
	h.shutdown()
	h.start()
	d = h.services()
	status <- 200
	after := <-posts
	assert.Equal(t, []any{before.body, cut.ID}, []any{after.body, after.header.Get("Idempotency-Key")}, "the repeated request has the same key")
	assert.Equal(t, 1, h.waitForMessageStatus(cut.ID, domain.MessageSent).Tries)

	tell := func(all ...sms.GatewayEvent) []sms.GatewayResult {
		out, err := d.SMS.SMSGatewayEvents(ctx, h.live, g.ID, all)
		require.NoError(t, err)
		return out
	}
	hello := sms.GatewayEvent{Type: sms.GatewayReceived, ID: "g1", From: "+12025550123", To: "+12025550171", Body: "Yes."}
	unknownRecipient := hello
	unknownRecipient.To = "+12025550199"
	out := tell(hello, unknownRecipient, hello, sms.GatewayEvent{Type: "delivered", MessageID: m.ID}, sms.GatewayEvent{Type: "undelivered", MessageID: cut.ID, ErrorCode: "off"})
	assert.Equal(t, []any{true, false}, []any{out[2].Duplicate, out[0].Duplicate})
	assert.Equal(t, out[0].MessageID, out[2].MessageID)
	assert.Equal(t, "to", out[1].Param)
	assert.Equal(t, domain.MessageDelivered, h.getMessage(m.ID).Status)
	assert.Equal(t, []any{domain.MessageUndelivered, "off"}, []any{h.getMessage(cut.ID).Status, h.getMessage(cut.ID).ErrorCode})
	got := h.getMessage(out[0].MessageID)
	assert.Equal(t, []any{"Yes.", domain.Inbound, g.ID}, []any{got.Body, got.Direction, got.RouteID})
	assert.Len(t, countEvents(h.events(h.live.WorkspaceID), event.SMSReceived), 1)
	status <- 200
	tell(sms.GatewayEvent{Type: sms.GatewayReceived, ID: "g2", From: "+12025550123", To: "+12025550171", Body: "STOP"})
	var notice map[string]any
	require.NoError(t, json.Unmarshal((<-posts).body, &notice))
	assert.Equal(t, "+12025550123", notice["to"])
}
