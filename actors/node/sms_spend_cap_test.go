package node_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
)

func TestSpendCapHoldsSMSMessagesToo(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := h.Context(), h.services()
	posts, status := make(chan struct{}, 16), make(chan int, 16)
	handler := func(w http.ResponseWriter, r *http.Request, _ []byte) {
		posts <- struct{}{}
		select {
		case code := <-status:
			w.WriteHeader(code)
		case <-r.Context().Done():
		}
	}
	h.receiver.other.Store(&handler)
	_, err := d.SMS.CreateSMSGateway(ctx, h.live, &domain.SMSGateway{Name: "house", URL: h.receiver.url + "/sms"})
	require.NoError(t, err)
	_, err = d.Numbers.CreateNumber(ctx, h.live, &domain.PhoneNumber{Number: "+12025550171", AgentID: h.createAgent(h.live, keyMenuPathway()), SMSEnabled: true})
	require.NoError(t, err)
	capped := func(amount string) {
		_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
			w.Calling.DailySpendCap = &domain.Money{Amount: amount, Currency: "USD"}
			return nil
		})
		require.NoError(t, err)
	}
	send := func(p domain.Principal) (*domain.Message, error) {
		return d.SMS.SendMessage(ctx, p, domain.NewMessage{To: "+12025550123", Body: "Hello."})
	}
	capped("1.00")
	status <- 200
	var m *domain.Message
	h.waitUntil(longWait, "today's spending is known", func() bool {
		m, err = send(h.live)
		return domain.CodeOf(err) != domain.CodeUnavailable
	})
	require.NoError(t, err)
	<-posts
	h.waitForMessageStatus(m.ID, domain.MessageSent)

	m, err = send(h.live)
	require.NoError(t, err)
	<-posts
	capped("0.00") // while the gateway has not replied
	status <- 429
	late := h.waitForMessageStatus(m.ID, domain.MessageFailed)
	assert.Equal(t, string(domain.CodeSpendCap), late.ErrorCode, "the message is not retried")
	_, err = send(h.live)
	assert.Equal(t, domain.CodeSpendCap, domain.CodeOf(err))
	_, err = send(h.test)
	require.NoError(t, err, "test messages cost nothing")
	assert.Empty(t, posts)
}

func TestQueuedSMSCountsTowardsTheDailySpendCap(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx := h.Context()
	status := make(chan int, 16)
	handler := func(w http.ResponseWriter, r *http.Request, _ []byte) {
		select {
		case code := <-status:
			w.WriteHeader(code)
		case <-r.Context().Done():
		}
	}
	h.receiver.other.Store(&handler)
	_, err := h.services().SMS.CreateSMSGateway(ctx, h.live, &domain.SMSGateway{Name: "house", URL: h.receiver.url + "/sms"})
	require.NoError(t, err)
	_, err = h.services().Numbers.CreateNumber(ctx, h.live, &domain.PhoneNumber{Number: "+12025550171", AgentID: h.createAgent(h.live, keyMenuPathway()), SMSEnabled: true})
	require.NoError(t, err)
	capped := func(amount string) {
		_, err := h.services().Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
			w.Calling.DailySpendCap, w.SegmentPrice = &domain.Money{Amount: amount, Currency: "USD"}, &domain.Money{Amount: "0.02", Currency: "USD"}
			return nil
		})
		require.NoError(t, err)
	}
	send := func(to string, words int) (m *domain.Message, code domain.Code) {
		h.waitUntil(longWait, "today's spending is known", func() bool {
			m, err = h.services().SMS.SendMessage(ctx, h.live, domain.NewMessage{To: to, Body: strings.Repeat("Word ", words)})
			return domain.CodeOf(err) != domain.CodeUnavailable
		})
		return m, domain.CodeOf(err)
	}
	capped("0.05")
	first, code := send("+12025550123", 1)
	require.Empty(t, code)
	_, code = send("+12025550124", 60) // two segments
	assert.Equal(t, domain.CodeSpendCap, code, "queued messages reserve their cost")
	second, code := send("+12025550125", 1)
	require.Empty(t, code)
	_, code = send("+12025550126", 1)
	assert.Equal(t, domain.CodeSpendCap, code)

	status <- http.StatusBadRequest
	status <- http.StatusOK
	h.waitUntil(longWait, "one message failed and one was sent", func() bool {
		a, b := h.getMessage(first.ID).Status, h.getMessage(second.ID).Status
		return a != b && a != domain.MessageQueued && b != domain.MessageQueued
	})
	var third *domain.Message
	h.waitUntil(longWait, "a failed message costs nothing", func() bool { // after the trunk actor is notified
		third, code = send("+12025550127", 1)
		return code != domain.CodeSpendCap
	})
	require.Empty(t, code)
	status <- http.StatusOK
	h.waitForMessageStatus(third.ID, domain.MessageSent)
	_, code = send("+12025550128", 1)
	assert.Equal(t, domain.CodeSpendCap, code, "a sent message keeps its cost")

	used := func() []any {
		u, err := h.services().Usage.Usage(ctx, h.live, billing.UsageQuery{From: time.Now(), To: time.Now()})
		require.NoError(t, err)
		return []any{u.Total.SMS, u.Total.Segments, u.Total.SMSAmount.Amount, u.Total.Amount.Amount, u.Total.TotalAmount.Amount}
	}
	assert.Equal(t, []any{2, 2, "0.04", "0.00", "0.04"}, used())
	h.shutdown()
	h.start()
	_, code = send("+12025550128", 1)
	assert.Equal(t, domain.CodeSpendCap, code, "the state survives a restart")
	capped("0.06")
	last, code := send("+12025550128", 1)
	require.Empty(t, code)
	status <- http.StatusOK
	h.waitForMessageStatus(last.ID, domain.MessageSent)
	assert.Equal(t, []any{3, 3, "0.06", "0.00", "0.06"}, used())
}
