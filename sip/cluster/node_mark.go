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

// Mark identifies a node in the tags and Contacts of its dialogs: up to 16 letters and digits. "": there is only
// one node.
type Mark string

// check refuses a mark that cannot be part of a tag.
func (mark Mark) check() error {
	for i := range len(mark) {
		if !message.IsAlnum(mark[i]) || len(mark) > maxMarkLength {
			return fmt.Errorf("sip: node mark %q must have up to 16 letters and digits", string(mark))
		}
	}
	return nil
}

// MarkTag appends the mark to a tag of this node.
func (mark Mark) MarkTag(tag string) string {
	if mark == "" {
		return tag
	}
	return tag + "-" + string(mark)
}

// MarkContact adds the mark to the URI in a Contact of this node.
func (mark Mark) MarkContact(uri string) string {
	if mark == "" {
		return uri
	}
	return uri + ";" + markParameter + "=" + string(mark)
}

// markOfTag returns the mark in a tag; "": there is none.
func markOfTag(tag string) string {
	if len(tag) <= tagLength+1 || len(tag) > tagLength+1+maxMarkLength || tag[tagLength] != '-' || strings.Trim(tag[:tagLength], "0123456789abcdef") != "" {
		return ""
	}
	if mark := Mark(tag[tagLength+1:]); mark.check() == nil {
		return string(mark)
	}
	return ""
}

// markOfDialog returns the mark of the node that owns the dialog of a request. It is in the Contact of that node,
// which is the Request-URI, or in its tag. A call that another node has resumed has the tag of its first node and
// the Contact of the second.
func markOfDialog(m *message.Message) string {
	if mark := Mark(message.ParamValue(m.URI.UriParams, markParameter)); mark != "" && mark.check() == nil {
		return string(mark)
	}
	return markOfTag(m.To.Tag)
}
