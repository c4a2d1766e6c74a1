package webhook

import (
	"bytes"
	"net/http"
	"slices"
)

// mostShort are the bytes that a short answer may tell of behind its head.
const mostShort = 1 << 20

// What lines of a head may be about without being looked at by net/http.
var (
	lineEnd   = []byte("\r\n")
	firstLine = []byte("HTTP/1.1 ")
	lengthOf  = []byte("Content-Length")
	telling   = [...][]byte{[]byte("Connection"), []byte("Transfer-Encoding"), []byte("Trailer"), []byte("Upgrade"), []byte("Retry-After")}
)

// short takes the whole head of a common answer apart: a final status, and
// lines that say no more of what follows than its length. size 0: net/http is to
// read it, or more of it is to come.
func short(b []byte) (size, status int, length int64) {
	line, at := nextLine(b, 0)
	if status = finalOf(line); at == 0 || status == 0 {
		return 0, 0, 0
	}
	length = -1
	for {
		if line, at = nextLine(b, at); at == 0 {
			return 0, 0, 0
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(": "))
		isLength := bytes.EqualFold(name, lengthOf)
		if !ok || !plainName(name) || tells(name) || isLength && length >= 0 {
			return 0, 0, 0
		}
		if isLength {
			if length = number(value); length < 0 {
				return 0, 0, 0
			}
		}
	}
	switch {
	case status == http.StatusNoContent && length <= 0:
		length = 0
	case status == http.StatusNoContent, length < 0:
		return 0, 0, 0
	}
	return at, status, length
}

// finalOf is the status of a first line, if a body may follow it, or none does;
// 0: net/http is to say.
func finalOf(line []byte) (status int) {
	text, ok := bytes.CutPrefix(line, firstLine)
	if !ok || len(text) < 3 || len(text) > 3 && text[3] != ' ' {
		return 0
	}
	for _, c := range text[:3] {
		if c < '0' || c > '9' {
			return 0
		}
		status = 10*status + int(c-'0')
	}
	if status < http.StatusOK || status == http.StatusNotModified || status > 599 {
		return 0
	}
	return status
}

// tells says whether a line of that name changes what stands behind the head, or
// what follows.
func tells(name []byte) bool {
	return slices.ContainsFunc(telling[:], func(t []byte) bool { return bytes.EqualFold(name, t) })
}

// nextLine is the line that begins at a place, and where the next one does; 0:
// it is not all there, or holds what no line should.
func nextLine(b []byte, from int) (line []byte, next int) {
	n := bytes.Index(b[from:], lineEnd)
	if n < 0 {
		return nil, 0
	}
	line = b[from : from+n]
	for _, c := range line {
		if c < ' ' || c > '~' {
			return nil, 0
		}
	}
	return line, from + n + len(lineEnd)
}

// plainName says whether a name has nothing but letters, digits and hyphens.
func plainName(name []byte) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(name) > 0
}

// number is one in digits; below 0: it is none, or a large one.
func number(text []byte) (n int64) {
	if len(text) == 0 || len(text) > 7 {
		return -1
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int64(c-'0')
	}
	if n > mostShort {
		return -1
	}
	return n
}
