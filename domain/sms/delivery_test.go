package sms_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/sms"
)

func TestCarrierAnswersAreClassified(t *testing.T) {
	t.Parallel()
	type o struct {
		sent, again, elsewhere bool
		code                   string
	}
	for a, want := range map[sms.CarrierResponse]o{
		{Code: 200}:             {sent: true},
		{Code: 202}:             {sent: true},
		{}:                      {again: true, elsewhere: true, code: "trunk_error"},
		{Code: 408}:             {again: true, elsewhere: true, code: "trunk_error"},
		{Code: 503}:             {again: true, elsewhere: true, code: "trunk_error"},
		{Code: 513}:             {code: "too_long"},
		{Code: 404}:             {code: "invalid_number"},
		{Code: 480}:             {again: true, code: "unavailable"},
		{Code: 429}:             {again: true, code: "throttled"},
		{Code: 403}:             {elsewhere: true, code: "carrier_rejected"},
		{Code: 415}:             {elsewhere: true, code: "unsupported"},
		{Code: 603}:             {code: "sip_603"},
		{Code: 200, HTTP: true}: {sent: true},
		{Code: 500, HTTP: true}: {again: true, elsewhere: true, code: "gateway_error"},
		{HTTP: true}:            {again: true, elsewhere: true, code: "gateway_error"},
		{Code: 429, HTTP: true}: {again: true, code: "throttled"},
		{Code: 422, HTTP: true}: {code: "gateway_422"},
		{Code: 302, HTTP: true}: {code: "gateway_302"},
		{Code: 404, HTTP: true}: {code: "gateway_404"},
	} {
		got := a.Result()
		assert.Equal(t, want, o{got.Sent, got.RetrySame, got.RetryOther, got.Code}, "%+v", a)
	}
}

func TestNextDeliveryPauses(t *testing.T) {
	t.Parallel()
	down := sms.CarrierResponse{}.Result()
	var got []time.Duration
	for n := 1; ; n++ {
		pause, again := sms.NextDelivery(n, 2, down)
		if !again {
			break
		}
		got = append(got, pause)
	}
	s := time.Second
	assert.Equal(t, []time.Duration{0, 5 * s, 0, 30 * s, 0, 120 * s, 0, 600 * s, 0, 1800 * s, 0}, got)
	refused := sms.CarrierResponse{Code: 403}.Result()
	_, first := sms.NextDelivery(1, 2, refused)
	_, second := sms.NextDelivery(2, 2, refused)
	assert.Equal(t, []bool{true, false}, []bool{first, second})
	pause, _ := sms.NextDelivery(1, 1, sms.CarrierResponse{Code: 503, RetryAfter: time.Minute}.Result())
	assert.Equal(t, time.Minute, pause, "a carrier says how long to wait")
}

func TestDeliveryReportsChangeState(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	delivered, lost := &sms.Report{Status: domain.MessageDelivered}, &sms.Report{Status: domain.MessageUndelivered, Code: "off"}
	for name, c := range map[string]struct {
		was        domain.Message
		report     *sms.Report
		want       domain.MessageStatus
		sent, told bool
	}{
		"delivered":        {domain.Message{Status: domain.MessageSent, SentAt: &now}, delivered, domain.MessageDelivered, false, true},
		"undelivered":      {domain.Message{Status: domain.MessageSent, SentAt: &now}, lost, domain.MessageUndelivered, false, true},
		"before the 200":   {domain.Message{Status: domain.MessageQueued, Todo: domain.TodoAwaitResponse}, delivered, domain.MessageDelivered, true, true},
		"of an unknown":    {domain.Message{Status: domain.MessageFailed, ErrorCode: domain.CodeDeliveryUnknown}, delivered, domain.MessageDelivered, true, true},
		"not handed over":  {domain.Message{Status: domain.MessageQueued, Todo: domain.TodoDeliver}, delivered, domain.MessageQueued, false, false},
		"twice":            {domain.Message{Status: domain.MessageDelivered}, lost, domain.MessageDelivered, false, false},
		"of a failed one":  {domain.Message{Status: domain.MessageFailed, ErrorCode: "x"}, delivered, domain.MessageFailed, false, false},
		"of one that came": {domain.Message{Status: domain.MessageReceived, Direction: domain.Inbound}, delivered, domain.MessageReceived, false, false},
		"displayed":        {domain.Message{Status: domain.MessageSent, SentAt: &now}, &sms.Report{}, domain.MessageSent, false, false},
	} {
		m := c.was
		if m.Direction == "" {
			m.Direction = domain.Outbound
		}
		sent, told := sms.ApplyReport(&m, c.report, now)
		assert.Equal(t, []any{c.want, c.sent, c.told}, []any{m.Status, sent, told}, name)
	}
}

func TestOnlyShortMessageToOneAddressIsRecognizedAgain(t *testing.T) {
	t.Parallel()
	one := &domain.Trunk{Proxies: []domain.Proxy{{Host: "192.0.2.1", Transport: "udp"}}}
	assert.True(t, sms.CanRetransmit(one, "hello", 5*time.Second))
	assert.False(t, sms.CanRetransmit(one, "hello", 30*time.Second))
	assert.False(t, sms.CanRetransmit(one, strings.Repeat("x", 1000), time.Second))
	assert.False(t, sms.CanRetransmit(&domain.Trunk{Proxies: []domain.Proxy{{Transport: "tcp"}}}, "hello", time.Second))
}

func TestParseCPIMAndDeliveryReports(t *testing.T) {
	t.Parallel()
	e := sms.Envelope{ID: "msg_1", From: "sip:+1@a", To: "sip:+2@b", At: time.Unix(0, 0), Body: "Grüße\r\n\r\nzwei"}
	got, err := sms.ReadContent("Message/CPIM", e.Wrap())
	require.NoError(t, err)
	assert.Equal(t, e.Body, got.Body)

	// The report of RFC 5438 §11.2, with and without the empty line between the CPIM and the MIME headers.
	report := "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<imdn xmlns=\"urn:ietf:params:xml:ns:imdn\">\r\n<message-id>msg_1</message-id>\r\n" +
		"<datetime>2008-04-04T12:16:49-05:00</datetime>\r\n<recipient-uri>im:bob@example.com</recipient-uri>\r\n" +
		"<delivery-notification>\r\n<status>\r\n<delivered/>\r\n</status>\r\n</delivery-notification>\r\n</imdn>"
	for _, gap := range []string{"\r\n", ""} {
		body := "From: Bob <im:bob@example.com>\r\nTo: Alice <im:alice@example.com>\r\nNS: imdn <urn:ietf:params:imdn>\r\n" +
			"imdn.Message-ID: d834jied93rf\r\n" + gap + "Content-type: message/imdn+xml\r\nContent-Disposition: notification\r\nContent-length: 1\r\n\r\n" + report
		got, err = sms.ReadContent("message/cpim", []byte(body))
		require.NoError(t, err)
		assert.Equal(t, &sms.Report{MessageID: "msg_1", Status: domain.MessageDelivered}, got.Report)
	}
	got, err = sms.ReadContent("message/imdn+xml", []byte(strings.Replace(report, "<delivered/>", "<failed/>", 1)))
	require.NoError(t, err)
	assert.Equal(t, domain.MessageUndelivered, got.Report.Status)
	got, err = sms.ReadContent("text/plain; charset=ISO-8859-1", []byte{'G', 'r', 0xFC})
	require.NoError(t, err)
	assert.Equal(t, "Grü", got.Body)
	for kind, body := range map[string]string{
		"text/html": "x", "message/cpim": "x", "text/plain": "\xff", "message/imdn+xml": "<imdn/>", "": "x",
		"message/CPIM": "A: b\r\n\r\nContent-Type: message/cpim\r\n\r\nA: b\r\n\r\nContent-Type: text/plain\r\n\r\nx",
	} {
		_, err = sms.ReadContent(kind, []byte(body))
		assert.Error(t, err, kind)
	}
}

func FuzzContent(f *testing.F) {
	e := sms.Envelope{ID: "msg_1", Body: "hello"}
	f.Add("message/cpim", e.Wrap())
	f.Add("message/imdn+xml", []byte("<imdn><message-id>x</message-id></imdn>"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		c, err := sms.ReadContent(kind, body)
		if err == nil && c.Report != nil && c.Report.MessageID == "" {
			t.Error("a report of no message")
		}
	})
}
