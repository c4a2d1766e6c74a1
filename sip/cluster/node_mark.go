package cluster

import (
	"fmt"
	"strings"

	"github.com/callboard/callboard/sip/message"
)

const (
	tagLength     = 16     // length of a tag without its mark
	maxMarkLength = 16     // characters of a Mark
	markParameter = "node" // URI parameter of the Contact
)

// Mark identifies a node in the tags and Contacts of its dialogs, by up to 16 letters and digits. It is "" if there is
// only one node.
type Mark string

// check returns an error for a mark that is too long or has a character other than ASCII letters and digits.
func (mark Mark) check() error {
	for i := range len(mark) {
		if !message.IsAlnum(mark[i]) || len(mark) > maxMarkLength {
			return fmt.Errorf("sip: node mark %q must have up to 16 letters and digits", string(mark))
		}
	}
	return nil
}

// MarkTag appends the node mark to a tag of this node.
func (mark Mark) MarkTag(tag string) string {
	if mark == "" {
		return tag
	}
	return tag + "-" + string(mark)
}

// MarkContact adds the node mark to the URI in a Contact of this node, as a URI parameter.
func (mark Mark) MarkContact(uri string) string {
	if mark == "" {
		return uri
	}
	return uri + ";" + markParameter + "=" + string(mark)
}

// markOfTag returns the node mark in a tag; "" if the tag has none.
func markOfTag(tag string) string {
	if len(tag) <= tagLength+1 || len(tag) > tagLength+1+maxMarkLength || tag[tagLength] != '-' || strings.Trim(tag[:tagLength], "0123456789abcdef") != "" {
		return ""
	}
	if mark := Mark(tag[tagLength+1:]); mark.check() == nil {
		return string(mark)
	}
	return ""
}

// markOfDialog returns the mark of the node that owns the dialog of a request. The mark is in the Request-URI, which is
// the Contact of that node, or in the To tag. The Request-URI is preferred: after another node has resumed a call, the
// tag still names the first node.
func markOfDialog(m *message.Message) string {
	if mark := Mark(message.ParamValue(m.URI.UriParams, markParameter)); mark != "" && mark.check() == nil {
		return string(mark)
	}
	return markOfTag(m.To.Tag)
}
