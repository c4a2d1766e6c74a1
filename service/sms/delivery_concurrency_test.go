package sms

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func message(id, to string) *domain.Message {
	return &domain.Message{Meta: domain.Meta{ID: id, WorkspaceID: "ws_1"}, To: to}
}

func TestSMSDeliveriesToOneNumberRunOneAtATime(t *testing.T) {
	t.Parallel()
	d := newDeliveriesInProgress()
	begun, full := d.register(message("a", "+1"))
	assert.True(t, begun)
	assert.False(t, full)
	begun, full = d.register(message("b", "+1"))
	assert.False(t, begun, "a message to the same number is being delivered")
	assert.False(t, full)
	d.end(message("a", "+1"))
	begun, _ = d.register(message("b", "+1"))
	assert.True(t, begun)
}

func TestConcurrentSMSDeliveriesOfWorkspaceAreLimited(t *testing.T) {
	t.Parallel()
	d := newDeliveriesInProgress()
	for i := range maxDeliveries {
		begun, _ := d.register(message(strconv.Itoa(i), strconv.Itoa(i)))
		require.True(t, begun)
	}
	_, full := d.register(message("x", "x"))
	assert.True(t, full)
	for i := range maxDeliveries {
		d.end(message(strconv.Itoa(i), strconv.Itoa(i)))
	}
	d.finish(t.Context())
	_, full = d.register(message("x", "x"))
	assert.True(t, full, "no delivery begins after finish")
}

func TestSMSBodyIsFilledFromContext(t *testing.T) {
	t.Parallel()
	body, err := fillBody(domain.NewMessage{Body: "Hello {{name}}", Context: domain.Context{"name": "Ada"}})
	require.NoError(t, err)
	assert.Equal(t, "Hello Ada", body)
	_, err = fillBody(domain.NewMessage{Body: "Hello {{name}}"})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
}

func TestSMSRepliesToOneContactAreMadeOneAtATime(t *testing.T) {
	t.Parallel()
	var r repliesInProgress
	begun, full := r.register("ws_1", "a")
	assert.True(t, begun)
	assert.False(t, full)
	begun, full = r.register("ws_1", "a")
	assert.False(t, begun)
	assert.False(t, full)
	for i := range maxReplies - 1 {
		r.register("ws_1", strconv.Itoa(i))
	}
	_, full = r.register("ws_1", "x")
	assert.True(t, full)
	r.end("ws_1", "a")
	begun, _ = r.register("ws_1", "x")
	assert.True(t, begun)
}
