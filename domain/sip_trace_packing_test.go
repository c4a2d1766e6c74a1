package domain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestTraceRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	for name, data := range map[string]string{"text": "INVITE sip:a b\r\n\r\nv=0\r\n", "bytes": "\xff\xfe\x00 \n", "nothing": ""} {
		want := domain.CallTrace{CallID: "call_1", WorkspaceID: "ws_1", Dropped: 3, Messages: []domain.SIPMessage{
			{At: at, Out: true, Network: "udp", Local: "1.2.3.4:5060", Remote: "[::1]:5060", SIPCallID: "a@b", Data: []byte(data)},
			{At: at.Add(time.Millisecond), Network: "tls", Local: "1.2.3.4:5061", Remote: "4.3.2.1:5061", SIPCallID: "c", Data: []byte("x\n\ny")},
		}}
		got, err := want.Pack().Unpack()
		require.NoError(t, err)
		assert.Equal(t, want, *got, name)
	}
}

func FuzzTraceRecord(f *testing.F) {
	f.Add("1 + udp a b c 2\nxx")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := (&domain.TraceRow{Data: []byte(text)}).Unpack()
		if err != nil {
			return
		}
		again, err := got.Pack().Unpack()
		require.NoError(t, err)
		assert.Equal(t, got, again)
	})
}
