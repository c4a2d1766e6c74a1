package sip

import (
	"fmt"
	"strings"

	"github.com/callboard/callboard/sip/message"
)

const (
	tagLen   = 16     // letters of a tag of ours, before the mark
	maxMark  = 16     // letters of Config.NodeMark
	nodeName = "node" // the parameter of our Contact that names the node
)

// checkMark refuses a mark that could not stand in a tag.
func checkMark(mark string) error {
	for i := range len(mark) {
		if !message.IsAlnum(mark[i]) || len(mark) > maxMark {
			return fmt.Errorf("sip: %q is no mark of a node", mark)
		}
	}
	return nil
}

// marked is a tag of ours that says which node has the dialog.
func (u *UserAgent) marked(tag string) string {
	if u.cfg.NodeMark == "" {
		return tag
	}
	return tag + "-" + u.cfg.NodeMark
}

// markOf is the mark in a tag; "": there is none.
func markOf(tag string) string {
	if len(tag) <= tagLen+1 || len(tag) > tagLen+1+maxMark || tag[tagLen] != '-' || strings.Trim(tag[:tagLen], "0123456789abcdef") != "" {
		return ""
	}
	if mark := tag[tagLen+1:]; checkMark(mark) == nil {
		return mark
	}
	return ""
}

// markIn finds the mark of the node that has the dialog of a request: in our
// Contact, to which it is sent, or in our tag. A call that was taken up has the
// tag of its first node, and the Contact of the one that has it.
func (u *UserAgent) markIn(m *received) string {
	if mark := message.ParamValue(m.URI.UriParams, nodeName); mark != "" && checkMark(mark) == nil {
		return mark
	}
	return markOf(m.To.Tag)
}
