package sip_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
)

// Parts of multipart bodies, each with its own headers.
const (
	sdpPart      = "Content-Type: application/sdp\r\n\r\n" + sdp
	isupPart     = "Content-Type: application/isup;version=itu-t92+\r\nContent-Disposition: signal;handling=optional\r\n\r\n\x01\x00\x48"
	locationPart = "Content-Type: application/pidf+xml\r\nContent-ID: <where@far>\r\n\r\n<presence/>"
	requiredPart = "Content-Type: application/x-unknown\r\nContent-Disposition: signal;handling=required\r\n\r\n?"
)

// multipartBody returns a multipart body.
func multipartBody(boundary string, parts ...string) string {
	return "Passed over.\r\n--" + boundary + "\r\n" + strings.Join(parts, "\r\n--"+boundary+"\r\n") + "\r\n--" + boundary + "--\r\n"
}

// withBody returns a request with its body and content type replaced.
func withBody(request, contentType, body string) string {
	head, _, _ := strings.Cut(request, "\r\n\r\n")
	var lines []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if !strings.HasPrefix(line, "Content-") {
			lines = append(lines, line)
		}
	}
	return strings.Join(append(lines, "Content-Type: "+contentType, fmt.Sprintf("Content-Length: %d", len(body)), "", body), "\r\n")
}

// inviteWithParts returns an INVITE from a trunk with these parts in a multipart body.
func inviteWithParts(boundary string, parts ...string) string {
	return withBody(inboundInvite(), "multipart/mixed;boundary="+boundary, multipartBody(strings.Trim(boundary, `"`), parts...))
}

func TestSDPPartOfMultipartBodyIsUsed(t *testing.T) {
	nested := "Content-Type: multipart/alternative; boundary=inner\r\n\r\n" + multipartBody("inner", "Content-Type: text/plain\r\n\r\nnotes", sdpPart)
	deep := sdpPart
	for i := range 4 {
		deep = fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\r\n\r\n%s", i, multipartBody(fmt.Sprintf("b%d", i), deep))
	}
	for name, c := range map[string]struct {
		invite string
		body   string // that the owner receives; "415": the INVITE is refused
	}{
		"ISUP after SDP":                   {inviteWithParts("part-1", sdpPart, isupPart), sdp},
		"ISUP before SDP, quoted boundary": {inviteWithParts(`"part 1"`, isupPart, sdpPart), sdp},
		"location without disposition":     {inviteWithParts("x", locationPart, sdpPart), sdp},
		"SDP with disposition":             {inviteWithParts("x", isupPart, "Content-Disposition: session;handling=required\r\n"+sdpPart), sdp},
		"unquoted colon in boundary":       {inviteWithParts("part:1", sdpPart, isupPart), sdp},
		"parts within a part":              {inviteWithParts("x", isupPart, nested), sdp},
		"no SDP":                           {inviteWithParts("x", isupPart, locationPart), ""},
		"required unknown part":            {inviteWithParts("x", sdpPart, requiredPart), "415"},
		"optional body without parts":      {strings.Replace(withBody(inboundInvite(), "application/isup", "?"), "Content-Type", "Content-Disposition: signal;handling=optional\r\nContent-Type", 1), ""},
		"no boundary":                      {withBody(inboundInvite(), "multipart/mixed", multipartBody("x", sdpPart)), "415"},
		"nested too deeply":                {inviteWithParts("x", deep), "415"},
		"too many parts":                   {inviteWithParts("x", append(strings.Split(strings.Repeat(isupPart+"|", 16), "|")[:16], sdpPart)...), "415"},
		"last part without end boundary":   {strings.Replace(inviteWithParts("x", isupPart, sdpPart), "--x--\r\n", "--x--  ", 1), sdp},
		"encoded SDP":                      {inviteWithParts("x", "Content-Transfer-Encoding: base64\r\n"+sdpPart), ""},
		"upper-case headers":               {withBody(inboundInvite(), "Multipart/Mixed; Boundary=x", multipartBody("x", "content-type: Application/SDP\r\n\r\n"+sdp)), sdp},
	} {
		synctest.Test(t, func(t *testing.T) {
			told := "415"
			s := newStage(t, func(ua *sip.UserAgent) {
				ua.OnInvite(func(i *sip.Incoming) {
					told = string(i.Body)
					i.Reject(486, 0)
				})
			})
			s.peer.send(c.invite, s.localAddr())
			m := s.peer.expect("SIP/2.0")
			if c.body == "415" {
				assert.Contains(t, m.line(), "415", name)
				assert.Contains(t, m.get("Accept"), "multipart/mixed", name)
			}
			synctest.Wait()
			assert.Equal(t, c.body, told, name)
			s.stop()
		})
	}
}

func TestReadPartsOfTracedBody(t *testing.T) {
	parts := message.ReadParts([]byte(inviteWithParts("x", isupPart, sdpPart)))
	require.Len(t, parts, 2)
	assert.Equal(t, "application/isup", parts[0].ContentType)
	assert.Equal(t, message.Part{ContentType: "application/sdp", Body: []byte(sdp)}, parts[1])
	assert.Len(t, message.ReadParts([]byte(inboundInvite())), 1)
	assert.Empty(t, message.ReadParts([]byte(inboundInvite("no body"))))
}

func FuzzReadParts(f *testing.F) {
	f.Add(inviteWithParts("x", isupPart, sdpPart))
	f.Add(withBody(inboundInvite(), `multipart/mixed;boundary="`, "--"))
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range message.ReadParts([]byte(text)) {
			require.LessOrEqual(t, len(p.Body), len(text))
		}
		sip.ValidateBytes([]byte(text))
	})
}
