package domain_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

func TestTraceIDIsULIDOfID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"call_00000000000000000000000001": "00000000000000000000000000000001",
		"evt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ":  "ffffffffffffffffffffffffffffffff",
	} {
		got, ok := domain.TraceID(id)
		assert.True(t, ok, id)
		assert.Equal(t, want, hex.EncodeToString(got[:]))
	}
	for _, id := range []string{"", "call_", "call_of_another_shape", "00000000000000000000000001"} {
		_, ok := domain.TraceID(id)
		assert.False(t, ok, id)
	}
}
