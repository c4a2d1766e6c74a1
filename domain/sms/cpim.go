package sms

import (
	"bytes"
	"encoding/xml"
	"errors"
	"mime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// Content types of a SIP MESSAGE request.
const (
	TypePlain = "text/plain;charset=utf-8"
	TypeCPIM  = "message/cpim"
	typeIMDN  = "message/imdn+xml"
)

// Envelope is a text message in CPIM format (RFC 3862) that requests a delivery report (IMDN, RFC 5438).
type Envelope struct {
	ID       string // ID that the report contains
	From, To string // URIs
	At       time.Time
	Body     string
}

// Wrap returns the encoded CPIM message.
func (e *Envelope) Wrap() []byte {
	var b bytes.Buffer
	for _, line := range []string{
		"From: <" + e.From + ">", "To: <" + e.To + ">", "DateTime: " + e.At.UTC().Format(time.RFC3339), "NS: imdn <urn:ietf:params:imdn>",
		"imdn.Message-ID: " + e.ID, "imdn.Disposition-Notification: positive-delivery, negative-delivery", "", "Content-Type: " + TypePlain, "",
	} {
		b.WriteString(line + "\r\n")
	}
	b.WriteString(e.Body)
	return b.Bytes()
}

// Content is the content of an inbound SIP MESSAGE: a text or a delivery report.
type Content struct {
	Body   string
	Report *Report
}

// Report is a delivery report of a carrier about a message.
type Report struct {
	MessageID string
	Status    domain.MessageStatus // delivered, undelivered or failed
	Code      string               // why the message was not delivered
	Text      string
}

// The errors of ReadContent.
var (
	ErrType    = errors.New("neither text nor a delivery report")
	ErrContent = errors.New("the content does not match its type")
)

// ReadContent decodes the body of a SIP MESSAGE. The error is ErrType or ErrContent. A report that is not about
// delivery, for example about display, has an empty Status.
func ReadContent(contentType string, body []byte) (Content, error) {
	return readContent(contentType, body, true)
}

func readContent(contentType string, body []byte, outer bool) (Content, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil && kind == "" {
		return Content{}, ErrType
	}
	switch {
	case kind == "text/plain":
		text, err := decodeText(params["charset"], body)
		return Content{Body: text}, err
	case kind == typeIMDN:
		r, err := readIMDN(body)
		return Content{Report: r}, err
	case kind == TypeCPIM && outer:
		inner, content, err := unwrapCPIM(body)
		if err != nil {
			return Content{}, err
		}
		return readContent(inner, content, false)
	}
	return Content{}, ErrType
}

// decodeText converts a text with the given charset to UTF-8.
func decodeText(charset string, body []byte) (string, error) {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii":
		if !utf8.Valid(body) {
			return "", ErrContent
		}
		return string(body), nil
	case "iso-8859-1", "latin1":
		out := make([]rune, len(body))
		for i, c := range body {
			out[i] = rune(c)
		}
		return string(out), nil
	}
	return "", ErrType
}

// unwrapCPIM returns the content that follows the CPIM headers and the MIME headers of a message. It accepts messages
// without the empty line between the two headers, because some senders omit it.
func unwrapCPIM(body []byte) (contentType string, content []byte, err error) {
	rest := body
	for range 2 {
		head, behind, ok := bytes.Cut(rest, []byte("\r\n\r\n"))
		if !ok {
			return "", nil, ErrContent
		}
		rest = behind
		for line := range strings.SplitSeq(string(head), "\r\n") {
			if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(strings.TrimSpace(name), "content-type") {
				return strings.TrimSpace(value), rest, nil
			}
		}
	}
	return "", nil, ErrContent
}

// imdn is the XML of a delivery report (RFC 5438 §7.2.1). One of the elements of Status is set.
type imdn struct {
	MessageID string `xml:"message-id"`
	Delivery  *struct {
		Status struct {
			Delivered *struct{} `xml:"delivered"`
			Failed    *struct{} `xml:"failed"`
			Forbidden *struct{} `xml:"forbidden"`
			Error     *struct{} `xml:"error"`
		} `xml:"status"`
	} `xml:"delivery-notification"`
}

func readIMDN(body []byte) (*Report, error) {
	var x imdn
	if err := xml.Unmarshal(body, &x); err != nil {
		return nil, ErrContent
	}
	r := &Report{MessageID: strings.TrimSpace(x.MessageID)}
	if r.MessageID == "" || len(r.MessageID) > 256 {
		return nil, ErrContent
	}
	if x.Delivery == nil {
		return r, nil
	}
	switch s := x.Delivery.Status; {
	case s.Delivered != nil:
		r.Status = domain.MessageDelivered
	case s.Failed != nil:
		r.Status, r.Code, r.Text = domain.MessageUndelivered, "undelivered", "the carrier reports that it could not be delivered"
	case s.Forbidden != nil:
		r.Status, r.Code, r.Text = domain.MessageUndelivered, "forbidden", "the recipient forbids delivery reports or the delivery"
	case s.Error != nil:
		r.Status, r.Code, r.Text = domain.MessageUndelivered, "carrier_error", "the carrier reports an error"
	}
	return r, nil
}
