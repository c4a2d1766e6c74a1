package message

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"
)

// Limits of a multipart body.
const (
	maxParts     = 16 // maximum number of parts of one body, including nested parts
	maxPartDepth = 3  // nesting of multipart parts
)

// bodyPart is one part of a body, or a whole body.
type bodyPart struct {
	contentType string // with its parameters
	kind        string // contentType in lower case, without parameters
	optional    bool   // handling=optional: ignored if it is not understood
	required    bool   // handling=required
	body        []byte
}

// understoodTypes returns the content types that Callboard understands in this kind of message.
func (m *Message) understoodTypes() []string {
	switch {
	case m.IsRequest() && m.Method == MethodInfo:
		return []string{ContentDTMFRelay, ContentDTMF}
	case m.IsRequest() && m.Method == MethodMessage:
		return []string{ContentText, ContentCPIM}
	case m.IsRequest() && m.Method == MethodNotify:
		return []string{ContentSipfrag}
	}
	return []string{ContentSDP}
}

// SelectBodyPart replaces a multipart body by the part that Callboard understands (RFC 5621 §3.1). Other parts are
// dropped, and UnknownPart names the first of them that is required. A body that cannot be parsed stays as it is.
func (m *Message) SelectBodyPart() {
	if len(m.Body) == 0 {
		return
	}
	understood := m.understoodTypes()
	whole := newBodyPart(m.HeaderValue("Content-Type"), m.HeaderValue("Content-Disposition"), m.Body)
	if !strings.HasPrefix(whole.kind, "multipart/") {
		if whole.optional && !slices.Contains(understood, whole.kind) {
			m.Body, m.ContentType = nil, ""
		}
		return
	}
	parts := 0
	found, unknown, ok := whole.find(understood, &parts, 0)
	if !ok {
		return
	}
	m.UnknownPart = unknown
	if found == nil {
		m.Body, m.ContentType = nil, ""
		return
	}
	m.Body, m.ContentType, m.PartType = found.body, found.kind, found.contentType
}

func newBodyPart(contentType, disposition string, body []byte) bodyPart {
	p := bodyPart{contentType: strings.TrimSpace(contentType), body: body}
	p.kind = strings.ToLower(strings.TrimSpace(TextBefore(contentType, ";")))
	_, params, _ := strings.Cut(disposition, ";")
	for one := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(one, "=")
		if strings.EqualFold(strings.TrimSpace(name), "handling") {
			value = strings.Trim(strings.TrimSpace(value), `"`)
			p.optional, p.required = strings.EqualFold(value, "optional"), strings.EqualFold(value, "required")
		}
	}
	return p
}

// find returns the first part with an understood content type, or the last one in a multipart/alternative body (RFC
// 2046 §5.1.4). unknown is the content type of a required part that is not understood. ok is false if the parts cannot
// be parsed.
func (p *bodyPart) find(understood []string, parts *int, depth int) (found *bodyPart, unknown string, ok bool) {
	boundary := boundaryOf(p.contentType)
	if boundary == "" || depth == maxPartDepth {
		return nil, "", false
	}
	alternatives := p.kind == "multipart/alternative"
	r := multipart.NewReader(bytes.NewReader(p.body), boundary)
	for {
		raw, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return found, unknown, true
		}
		if *parts++; err != nil || *parts > maxParts {
			return nil, "", false
		}
		inner, lacking, readable := understoodPart(raw, understood, parts, depth)
		if !readable {
			return nil, "", false
		}
		if unknown == "" && !alternatives {
			unknown = lacking
		}
		if inner != nil && (found == nil || alternatives) {
			found = inner
		}
	}
}

// understoodPart reads one part of a body and returns the same results as find, for this part and the parts in it.
func understoodPart(raw *multipart.Part, understood []string, parts *int, depth int) (found *bodyPart, unknown string, ok bool) {
	body, err := io.ReadAll(raw)
	if err != nil {
		return nil, "", false
	}
	part := newBodyPart(raw.Header.Get("Content-Type"), raw.Header.Get("Content-Disposition"), body)
	switch {
	case strings.HasPrefix(part.kind, "multipart/"):
		return part.find(understood, parts, depth+1)
	case slices.Contains(understood, part.kind) && !encoded(raw.Header):
		return &part, "", true
	case part.required:
		return nil, part.kind, true
	}
	return nil, "", true
}

// encoded reports whether a part has a content encoding or transfer encoding that must be decoded first.
func encoded(h textproto.MIMEHeader) bool {
	plain := func(name string, values ...string) bool {
		v := strings.ToLower(strings.TrimSpace(h.Get(name)))
		return v == "" || slices.Contains(values, v)
	}
	return !plain("Content-Encoding", "identity") || !plain("Content-Transfer-Encoding", "binary", "8bit", "7bit")
}

// boundaryOf returns the boundary parameter of a content type, quoted or not; "" if there is none.
func boundaryOf(contentType string) string {
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return params["boundary"]
	}
	_, rest, found := strings.Cut(contentType, "boundary=") // with characters that would have to be quoted
	if !found {
		return ""
	}
	return strings.Trim(strings.TrimSpace(TextBefore(rest, ";")), `"`)
}

// Part is one part of a body, or a whole body.
type Part struct {
	ContentType string // in lower case, without parameters
	Body        []byte
}

// ReadParts returns the parts of a message's body as it was on the wire, including nested parts. A body that is not
// multipart is one part. Text outside of the boundaries is omitted.
func ReadParts(raw []byte) []Part {
	head, body, found := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !found || len(body) == 0 {
		return nil
	}
	contentType := ""
	for _, line := range UnfoldLines(string(head)) {
		if name, value, is := strings.Cut(line, ":"); is && CanonicalName(strings.TrimSpace(name)) == "content-type" {
			contentType = value
		}
	}
	whole := newBodyPart(contentType, "", body)
	return whole.appendParts(nil, 0)
}

func (p *bodyPart) appendParts(parts []Part, depth int) []Part {
	boundary := boundaryOf(p.contentType)
	if !strings.HasPrefix(p.kind, "multipart/") || boundary == "" || depth == maxPartDepth {
		return append(parts, Part{p.kind, p.body})
	}
	r := multipart.NewReader(bytes.NewReader(p.body), boundary)
	for len(parts) < maxParts {
		raw, err := r.NextRawPart()
		if err != nil {
			break
		}
		body, err := io.ReadAll(raw)
		if err != nil {
			break
		}
		inner := newBodyPart(raw.Header.Get("Content-Type"), "", body)
		parts = inner.appendParts(parts, depth+1)
	}
	return parts
}
