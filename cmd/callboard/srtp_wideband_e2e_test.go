package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBaresipCallWithSRTPAndWideband(t *testing.T) {
	t.Parallel()
	s := newService(t)
	agent := s.createSentenceAgent()
	for name, c := range map[string]struct {
		number, codecs, encryption, srtp, codec string
		status                                  string
	}{
		"G.722":                             {"+12025550131", "audio_codecs=G722/16000/1", "", "off", "G722/8000", "completed"},
		"SRTP":                              {"+12025550132", "audio_codecs=PCMU/8000/1", "mediaenc=srtp-mand", "required", "PCMU/8000", "completed"},
		"SRTP optional":                     {"+12025550133", "audio_codecs=PCMA/8000/1", "mediaenc=srtp", "optional", "PCMA/8000", "completed"},
		"both":                              {"+12025550134", "audio_codecs=G722/16000/1", "mediaenc=srtp-mand", "required", "G722/8000", "completed"},
		"SRTP required, phone without SRTP": {"+12025550135", "audio_codecs=PCMU/8000/1", "", "required", "", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account := "<sip:" + c.number + "@127.0.0.1>;regint=0;" + c.codecs
			if c.encryption != "" {
				account += ";" + c.encryption
			}
			p := startBaresipWithAccount(t, account)
			s.trunkWith(c.number, p.port, "udp", object{"codecs": []string{"G722", "PCMU", "PCMA"}, "srtp": c.srtp, "srtp_keys_in_clear": true})
			record := s.awaitCallEnd(s.placeCall(c.number, agent, nil), 60*time.Second)
			require.Equal(t, c.status, record["status"], "%v", record)
			if c.status != "completed" {
				return
			}
			leg := record["legs"].([]any)[0].(object)
			assert.Equal(t, c.codec, leg["codec"])
			quality := record["quality"].(object)
			assert.LessOrEqual(t, quality["packets_refused"], 2.0, "a phone with optional SRTP may send audio before it has the key")
			assert.Greater(t, quality["packets_received"], 100.0)
		})
	}
}
