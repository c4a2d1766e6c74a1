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

// smsc is a carrier's message centre on a socket of its own: it answers each
// MESSAGE as it is told, and sends some.
type smsc struct {
	h      *fixture
	conn   *net.UDPConn
	got    chan sipText // those of ours
	back   chan sipText // answers to those of its own
	mu     sync.Mutex
	answer func(m sipText) string // the status line; "": none
	sent   int
}

// sipText is a message of SIP as it was seen on the wire.
type sipText struct {
	line, body string
	header     map[string]string // the first of each, in lower case
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

func newSMSC(h *fixture) *smsc {
	h.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(h, err)
	c := &smsc{h: h, conn: conn, got: make(chan sipText, 64), back: make(chan sipText, 64)}
	c.answers("SIP/2.0 200 OK")
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

func (c *smsc) write(to netip.AddrPort, answer string, m sipText) {
	h := m.header
	_, _ = c.conn.WriteToUDPAddrPort([]byte(answer+"\r\nVia: "+h["via"]+"\r\nFrom: "+h["from"]+"\r\nTo: "+h["to"]+";tag=c\r\nCall-ID: "+h["call-id"]+"\r\nCSeq: "+h["cseq"]+
		"\r\nContent-Length: 0\r\n\r\n"), to)
}

// answers sets what each MESSAGE gets: these in turn, then the last.
func (c *smsc) answers(lines ...string) {
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

func (c *smsc) port() int {
	at, err := netip.ParseAddrPort(c.conn.LocalAddr().String())
	require.NoError(c.h, err)
	return int(at.Port())
}

// next is the next MESSAGE that it was sent.
func (c *smsc) next() sipText {
	c.h.Helper()
	select {
	case m := <-c.got:
		return m
	case <-time.After(patience):
		require.Fail(c.h, "no message came")
	}
	panic("unreachable")
}

// send lets it send a MESSAGE under a Call-ID and waits for the answer.
func (c *smsc) send(callID, to, contentType, body string) sipText {
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
	case <-time.After(patience):
		require.Fail(c.h, "no answer came")
	}
	panic("unreachable")
}

// carries makes a trunk to it that carries messages, and a number on it.
func (c *smsc) carries(as, own string) *domain.Trunk {
	h := c.h
	h.Helper()
	t, err := h.services().Trunks.CreateTrunk(h.Context(), h.live, &domain.Trunk{
		Name: "carrier", Proxies: []domain.Proxy{{Host: "127.0.0.1", Port: c.port(), Transport: "udp", Weight: 1}}, NumberFormat: "e164", SMS: as,
	})
	require.NoError(h, err)
	if own != "" {
		_, err = h.services().Numbers.CreateNumber(h.Context(), h.live, &domain.PhoneNumber{Number: own, AgentID: h.agent(h.live, menu()), TrunkID: t.ID, SMSEnabled: true})
		require.NoError(h, err)
	}
	h.until(10*time.Second, "the trunk admits", func() bool {
		return len(h.node.TrunkSources().TrunksAt(netip.MustParseAddrPort(c.conn.LocalAddr().String()))) > 0
	})
	return t
}

func (h *fixture) message(id string) *domain.Message {
	h.Helper()
	m, err := h.services().SMS.Message(h.Context(), h.live, id)
	require.NoError(h, err)
	return m
}

// reaches waits until a message is in a state.
func (h *fixture) reaches(id string, status domain.MessageStatus) (m *domain.Message) {
	h.Helper()
	h.until(10*time.Second, "the message is "+string(status), func() bool {
		m = h.message(id)
		return m.Status == status && m.Todo != domain.TodoAwaitResponse
	})
	return m
}

func imdnOf(id, status string) string {
	return "From: <sip:a@b>\r\nTo: <sip:c@d>\r\nNS: imdn <urn:ietf:params:imdn>\r\nimdn.Message-ID: x\r\n\r\nContent-Type: message/imdn+xml\r\n\r\n" +
		`<?xml version="1.0"?><imdn xmlns="urn:ietf:params:xml:ns:imdn"><message-id>` + id + `</message-id><delivery-notification><status><` + status + `/></status></delivery-notification></imdn>`
}

func TestALiveMessageGoesOverATrunkAndIsReported(t *testing.T) {
	h := build(t, nil)
	c := newSMSC(h)
	trunk := c.carries(domain.SMSIMDN, "+12025550171")
	order := domain.NewMessage{To: "+12025550123", Body: "Grüße, {{who}}.", Context: domain.Context{"who": "Ada"}}
	c.answers("SIP/2.0 202 Accepted")
	m, err := h.services().SMS.SendMessage(h.Context(), h.live, order)
	require.NoError(t, err)
	assert.Equal(t, domain.MessageQueued, m.Status)
	seen := c.next()
	assert.Equal(t, "MESSAGE sip:+12025550123@127.0.0.1:"+strconv.Itoa(c.port())+" SIP/2.0", seen.line)
	assert.Contains(t, seen.header["from"], "sip:+12025550171@")
	assert.Equal(t, "message/cpim", seen.header["content-type"])
	assert.Contains(t, seen.body, "imdn.Message-ID: "+m.ID+"\r\n")
	assert.True(t, strings.HasSuffix(seen.body, "\r\n\r\nGrüße, Ada."), seen.body)
	sent := h.reaches(m.ID, domain.MessageSent)
	assert.Equal(t, []any{trunk.ID, 1, true}, []any{sent.RouteID, sent.Tries, sent.SentAt != nil})

	assert.Contains(t, c.send("r1", "+12025550171", "message/cpim", imdnOf(m.ID, "delivered")).line, "200")
	assert.NotNil(t, h.message(m.ID).DeliveredAt, "the report is stored before its answer")
	assert.Contains(t, c.send("r2", "+12025550171", "message/cpim", imdnOf(m.ID, "failed")).line, "200")
	assert.Equal(t, domain.MessageDelivered, h.message(m.ID).Status, "what is delivered stays so")
	assert.Contains(t, c.send("r3", "+12025550171", "message/cpim", imdnOf("msg_unknown", "delivered")).line, "200")

	c.answers("SIP/2.0 404 Not Found")
	bad, err := h.services().SMS.SendMessage(h.Context(), h.live, order)
	require.NoError(t, err)
	assert.Equal(t, "invalid_number", h.reaches(bad.ID, domain.MessageFailed).ErrorCode)
	c.answers("SIP/2.0 503 Busy", "SIP/2.0 200 OK")
	again, err := h.services().SMS.SendMessage(h.Context(), h.live, order)
	require.NoError(t, err)
	assert.Equal(t, 2, h.reaches(again.ID, domain.MessageSent).Tries, "after 5 seconds")
	events := h.events(h.live.WorkspaceID)
	assert.Equal(t, map[string]int{m.ID: 1, again.ID: 1}, told(events, event.SMSSent))
	assert.Equal(t, map[string]int{m.ID: 1}, told(events, event.SMSDelivered))
	assert.Equal(t, map[string]int{bad.ID: 1}, told(events, event.SMSFailed))
	day := domain.Usage{WorkspaceID: h.live.WorkspaceID, Day: domain.Day(time.Now())}
	_, err = h.store.Get(context.Background(), &day)
	require.NoError(t, err)
	assert.Equal(t, 2, day.SMS())
}

func TestAMessageOfATrunkIsTakenOnceAndAnOptOutIsAnswered(t *testing.T) {
	h := build(t, nil)
	c := newSMSC(h)
	c.carries(domain.SMSPlain, "+12025550171")
	received := func() []*domain.Message {
		l, err := h.services().SMS.ListMessages(h.Context(), h.live, sms.MessageQuery{PageQuery: record.PageQuery{Limit: 100}, Direction: domain.Inbound})
		require.NoError(t, err)
		return l.Data
	}
	assert.Contains(t, c.send("one", "+12025550171", "text/plain;charset=utf-8", "Grüße").line, "200")
	require.Len(t, received(), 1, "it is stored before it is answered")
	m := received()[0]
	assert.Equal(t, []any{"+12025550123", "+12025550171", "Grüße", domain.MessageReceived, false}, []any{m.From, m.To, m.Body, m.Status, m.OptOut})
	h.shut()
	h.open()
	assert.Contains(t, c.send("one", "+12025550171", "text/plain", "Grüße").line, "200", "sent again to the next process")
	assert.Len(t, received(), 1)
	assert.Contains(t, c.send("two", "+12025559999", "text/plain", "x").line, "404")
	assert.Contains(t, c.send("three", "+12025550171", "text/html", "x").line, "415")
	assert.Contains(t, c.send("four", "+12025550171", "text/plain", "\xff").line, "400")

	assert.Contains(t, c.send("five", "+12025550171", "text/plain", " Stop. ").line, "200")
	notice := c.next()
	assert.Equal(t, "text/plain;charset=utf-8", notice.header["content-type"])
	assert.Contains(t, notice.body, "no more messages")
	assert.True(t, received()[0].OptOut)
	_, err := h.services().SMS.SendMessage(h.Context(), h.live, domain.NewMessage{To: "+12025550123", Body: "Please."})
	assert.Equal(t, domain.CodeOptedOut, domain.CodeOf(err))
	assert.Contains(t, c.send("six", "+12025550171", "text/plain", "STOP").line, "200")
	h.finals(h.live)
	assert.Empty(t, c.got, "one notice")
	events := h.events(h.live.WorkspaceID)
	assert.Len(t, told(events, event.SMSReceived), 3)
	assert.Len(t, told(events, event.ContactOptedOut), 1)

	silent := newSMSC(h)
	silent.carries(domain.SMSOff, "")
	assert.Contains(t, silent.send("seven", "+12025559998", "text/plain", "x").line, "40", "a source whose trunk carries none, and nobody's number")
}

// What a process leaves half handed over goes on under the same names over UDP,
// so that the carrier takes it for one; where nobody can know, that is said.
func TestAMessageThatACrashCutOffIsNotSentTwice(t *testing.T) {
	h := build(t, nil)
	c := newSMSC(h)
	c.carries(domain.SMSPlain, "+12025550171")
	c.answers("")
	m, err := h.services().SMS.SendMessage(h.Context(), h.live, domain.NewMessage{To: "+12025550123", Body: "Hello."})
	require.NoError(t, err)
	first, since := c.next(), time.Now()
	h.shut()
	c.answers("SIP/2.0 200 OK")
	for len(c.got) > 0 {
		<-c.got
	}
	h.open()
	if time.Since(since) > 15*time.Second { // a machine that takes so long has lost the right to send it again
		h.until(10*time.Second, "it is settled", func() bool { return h.message(m.ID).Status != domain.MessageQueued })
		return
	}
	second := c.next()
	for _, name := range []string{"from", "call-id", "cseq"} {
		assert.Equal(t, first.header[name], second.header[name], name)
	}
	_, branch, _ := strings.Cut(first.header["via"], "branch=")
	assert.Contains(t, second.header["via"], branch)
	assert.Equal(t, 1, h.reaches(m.ID, domain.MessageSent).Tries)

	c.answers("")
	long, err := h.services().SMS.SendMessage(h.Context(), h.live, domain.NewMessage{To: "+12025550123", Body: strings.Repeat("long ", 150)})
	require.NoError(t, err)
	c.next()
	h.shut()
	c.answers("SIP/2.0 200 OK")
	h.open()
	lost := h.reaches(long.ID, domain.MessageFailed)
	assert.Equal(t, domain.CodeDeliveryUnknown, lost.ErrorCode)
	assert.Equal(t, map[string]int{long.ID: 1}, told(h.events(h.live.WorkspaceID), event.SMSFailed))
}

func TestMessageThatTheTrunkOfItsSenderRefusesFails(t *testing.T) {
	h := build(t, nil)
	ctx, d := h.Context(), h.services()
	newSMSC(h).carries(domain.SMSPlain, "") // another route, which does not carry the number of the sender
	c := newSMSC(h)
	trunk := c.carries(domain.SMSPlain, "+12025550171")
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
	h.until(10*time.Second, "the first is with the carrier", func() bool { return h.message(first.ID).Todo == domain.TodoAwaitResponse })
	second, err := d.SMS.SendMessage(ctx, h.live, order) // waits for the first, which goes to the same number
	require.NoError(t, err)
	_, err = d.Trunks.UpdateTrunk(ctx, h.live, trunk.ID, func(x *domain.Trunk) error {
		x.NumberStrip = "+1202" // what is left does not read as the same number
		return nil
	})
	require.NoError(t, err)
	close(answer)
	h.reaches(first.ID, domain.MessageSent)
	failed := h.reaches(second.ID, domain.MessageFailed)
	assert.Equal(t, []any{string(domain.CodeDestinationNotAllowed), domain.MessageTodo(""), 0}, []any{failed.ErrorCode, failed.Todo, failed.Tries})
	assert.Contains(t, failed.ErrorMessage, "number_strip")
	assert.Equal(t, map[string]int{second.ID: 1}, told(h.events(h.live.WorkspaceID), event.SMSFailed))

	_, err = d.SMS.SendMessage(ctx, h.live, order)
	assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err), "a message is refused before it is queued")
}

func TestAGatewayCarriesMessagesBothWays(t *testing.T) {
	h := build(t, nil)
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
		<-r.Context().Done() // no answer
	}
	h.receiver.other.Store(&handler)
	g, err := d.SMS.CreateSMSGateway(ctx, h.live, &domain.SMSGateway{Name: "house", URL: h.receiver.url + "/sms"})
	require.NoError(t, err)
	_, err = d.SMS.CreateSMSGateway(ctx, h.live, &domain.SMSGateway{Name: "inside", URL: "https://10.0.0.1/sms"})
	assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err))
	_, err = d.SMS.CreateSMSGateway(ctx, h.test, &domain.SMSGateway{Name: "house", URL: h.receiver.url + "/sms"})
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	_, err = d.Numbers.CreateNumber(ctx, h.live, &domain.PhoneNumber{Number: "+12025550171", AgentID: h.agent(h.live, menu()), SMSEnabled: true})
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
	var told1 map[string]any
	require.NoError(t, json.Unmarshal(first.body, &told1))
	assert.Equal(t, []any{m.ID, "+12025550171", "+12025550123", "Hello.", 1.0, "gsm7"},
		[]any{told1["message_id"], told1["from"], told1["to"], told1["body"], told1["segments"], told1["encoding"]})
	assert.Equal(t, g.ID, h.reaches(m.ID, domain.MessageSent).RouteID)

	status <- 0
	cut, err := d.SMS.SendMessage(ctx, h.live, domain.NewMessage{To: "+12025550124", Body: "Hello."})
	require.NoError(t, err)
	before := <-posts
	h.shut()
	h.open()
	d = h.services()
	status <- 200
	after := <-posts
	assert.Equal(t, []any{before.body, cut.ID}, []any{after.body, after.header.Get("Idempotency-Key")}, "the gateway knows it by its key")
	assert.Equal(t, 1, h.reaches(cut.ID, domain.MessageSent).Tries)

	tell := func(all ...sms.GatewayEvent) []sms.GatewayResult {
		out, err := d.SMS.SMSGatewayEvents(ctx, h.live, g.ID, all)
		require.NoError(t, err)
		return out
	}
	hello := sms.GatewayEvent{Type: sms.GatewayReceived, ID: "g1", From: "+12025550123", To: "+12025550171", Body: "Yes."}
	nobody := hello
	nobody.To = "+12025550199"
	out := tell(hello, nobody, hello, sms.GatewayEvent{Type: "delivered", MessageID: m.ID}, sms.GatewayEvent{Type: "undelivered", MessageID: cut.ID, ErrorCode: "off"})
	assert.Equal(t, []any{true, false}, []any{out[2].Duplicate, out[0].Duplicate})
	assert.Equal(t, out[0].MessageID, out[2].MessageID)
	assert.Equal(t, "to", out[1].Param)
	assert.Equal(t, domain.MessageDelivered, h.message(m.ID).Status)
	assert.Equal(t, []any{domain.MessageUndelivered, "off"}, []any{h.message(cut.ID).Status, h.message(cut.ID).ErrorCode})
	got := h.message(out[0].MessageID)
	assert.Equal(t, []any{"Yes.", domain.Inbound, g.ID}, []any{got.Body, got.Direction, got.RouteID})
	assert.Len(t, told(h.events(h.live.WorkspaceID), event.SMSReceived), 1)
	status <- 200
	tell(sms.GatewayEvent{Type: sms.GatewayReceived, ID: "g2", From: "+12025550123", To: "+12025550171", Body: "STOP"})
	var notice map[string]any
	require.NoError(t, json.Unmarshal((<-posts).body, &notice))
	assert.Equal(t, "+12025550123", notice["to"])
}
