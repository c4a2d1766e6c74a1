// Package siptrace shows the SIP messages of a call as a ladder diagram in text and as a pcap capture file.
package siptrace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

const (
	maxStartLine      = 120 // characters
	ladderColumnWidth = 34  // width between two parties
	ladderTimeFormat  = "15:04:05.000"
)

// StartLine returns the first line of a message, without control characters and limited to maxStartLine.
func StartLine(data []byte) string {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(line), ""))
	if runes := []rune(text); len(runes) > maxStartLine {
		return string(runes[:maxStartLine-1]) + "…"
	}
	return text
}

// ArrowLabel returns the label of a message in the ladder diagram. It has the request method or the response status,
// "+SDP" for messages with SDP, and for a response the method of the request.
func ArrowLabel(data []byte) string {
	start := StartLine(data)
	text := start
	if rest, isAnswer := strings.CutPrefix(start, "SIP/2.0 "); isAnswer {
		text = rest
		if m := headerValue(data, "cseq"); m != "" {
			if _, method, ok := strings.Cut(m, " "); ok {
				text += " (" + strings.TrimSpace(method) + ")"
			}
		}
	} else if method, _, ok := strings.Cut(start, " "); ok {
		text = method
	}
	if strings.Contains(strings.ToLower(headerValue(data, "content-type", "c")), "application/sdp") {
		text += " +SDP"
	}
	return text
}

// headerValue returns the value of the first header with one of the names, ignoring case, or "".
func headerValue(data []byte, names ...string) string {
	head, _, _ := bytes.Cut(data, []byte("\r\n\r\n"))
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		for _, wanted := range names {
			if strings.EqualFold(string(bytes.TrimSpace(name)), wanted) {
				return StartLine(bytes.TrimSpace(value))
			}
		}
	}
	return ""
}

// FormatLadder returns a ladder diagram as text. The service is on the left, and each remote party has its own
// column in order of appearance.
func FormatLadder(t *domain.CallTrace) string {
	var b strings.Builder
	var ends []string
	place := make(map[string]int)
	dialogs := make(map[string]int)
	for _, m := range t.Messages {
		if _, ok := place[m.Remote]; !ok {
			place[m.Remote] = len(ends)
			ends = append(ends, m.Remote)
		}
		if _, ok := dialogs[m.SIPCallID]; !ok {
			dialogs[m.SIPCallID] = len(dialogs) + 1
		}
	}
	fmt.Fprintf(&b, "%s: %d messages, %d dialogs", t.CallID, len(t.Messages), len(dialogs))
	if t.Dropped > 0 {
		fmt.Fprintf(&b, ", %d not kept", t.Dropped)
	}
	b.WriteString("\n\n")
	b.WriteString(strings.Repeat(" ", len(ladderTimeFormat)+6) + "us")
	for _, e := range ends {
		fmt.Fprintf(&b, "%*s", ladderColumnWidth, e)
	}
	b.WriteByte('\n')
	var before time.Time
	for _, m := range t.Messages {
		if !before.IsZero() && m.At.Sub(before) >= time.Second {
			fmt.Fprintf(&b, "%*s\n", len(ladderTimeFormat)+4, "+"+strconv.FormatFloat(m.At.Sub(before).Seconds(), 'f', 1, 64)+" s")
		}
		before = m.At
		writeArrow(&b, &m, place[m.Remote], dialogs[m.SIPCallID])
	}
	return b.String()
}

// writeArrow writes the line of one message with its arrow. end is the column of the remote party.
func writeArrow(b *strings.Builder, m *domain.SIPMessage, end, dialog int) {
	width := (end+1)*ladderColumnWidth - 1
	text := []rune(" " + ArrowLabel(m.Data) + " ")
	if len(text) > width-4 {
		text = append(text[:width-5], '…')
	}
	left := (width - 2 - len(text)) / 2
	line := strings.Repeat("-", left) + string(text) + strings.Repeat("-", width-2-len(text)-left)
	if m.Out {
		line += ">"
	} else {
		line = "<" + line
	}
	fmt.Fprintf(b, "%s #%-3d  |%s|\n", m.At.UTC().Format(ladderTimeFormat), dialog, line)
}
