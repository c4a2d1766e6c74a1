package sip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	maxAnswers = 64
	maxAliases = 8
)

var errForeign = errors.New("answers another question")

// unpack reads an answer: the records of the question, and how long they hold.
func unpack(b []byte, id uint16, q question) (found []record, ttl time.Duration, truncated bool, err error) {
	var p dnsmessage.Parser
	h, err := p.Start(b)
	if err != nil {
		return nil, 0, false, err
	}
	asked, err := p.Question()
	if err != nil || h.ID != id || !h.Response || asked.Type != q.kind || bare(asked.Name) != q.name {
		return nil, 0, false, errors.Join(errForeign, err)
	}
	if h.Truncated {
		return nil, 0, true, nil
	}
	if h.RCode != dnsmessage.RCodeSuccess && h.RCode != dnsmessage.RCodeNameError {
		return nil, 0, false, fmt.Errorf("refused: %s", h.RCode)
	}
	if err = p.SkipAllQuestions(); err != nil {
		return nil, 0, false, err
	}
	a := answers{want: q, ttl: ttlMost, alias: make(map[string]string), of: make(map[string][]record)}
	for range maxAnswers {
		more, broken := a.next(&p)
		if broken != nil {
			return nil, 0, false, broken
		}
		if !more {
			break
		}
	}
	if found = a.follow(); len(found) == 0 {
		return nil, ttlNothing, false, nil
	}
	return found, max(a.ttl, ttlLeast), false, nil
}

// answers gathers the records of an answer section by their names.
type answers struct {
	want  question
	ttl   time.Duration
	alias map[string]string
	of    map[string][]record
}

func (a *answers) next(p *dnsmessage.Parser) (more bool, err error) {
	h, err := p.AnswerHeader()
	if errors.Is(err, dnsmessage.ErrSectionDone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	name := bare(h.Name)
	if h.Type != a.want.kind && h.Type != dnsmessage.TypeCNAME || h.Class != dnsmessage.ClassINET {
		return true, p.SkipAnswer()
	}
	a.ttl = min(a.ttl, time.Duration(h.TTL)*time.Second)
	if h.Type == dnsmessage.TypeCNAME {
		r, errAlias := p.CNAMEResource()
		if errAlias == nil {
			a.alias[name] = bare(r.CNAME)
		}
		return true, errAlias
	}
	r, err := readRecord(p, h.Type)
	if err == nil {
		a.of[name] = append(a.of[name], r)
	}
	return true, err
}

// follow walks the aliases from the name that was asked for.
func (a *answers) follow() []record {
	name := a.want.name
	for range maxAliases {
		if found := a.of[name]; len(found) > 0 {
			return found
		}
		name = a.alias[name]
	}
	return nil
}

func readRecord(p *dnsmessage.Parser, kind recordType) (record, error) {
	switch kind { //nolint:exhaustive // the types that we ask for
	case typeA:
		r, err := p.AResource()
		return record{addr: netip.AddrFrom4(r.A)}, err
	case typeAAAA:
		r, err := p.AAAAResource()
		return record{addr: netip.AddrFrom16(r.AAAA).Unmap()}, err
	case typeSRV:
		r, err := p.SRVResource()
		return record{target: bare(r.Target), port: r.Port, weight: r.Weight, order: r.Priority}, err
	default:
		r, err := p.UnknownResource()
		if err != nil {
			return record{}, err
		}
		return readNAPTR(r.Data)
	}
}

var errNAPTR = errors.New("broken NAPTR record")

// readNAPTR reads the data of RFC 3403 4.1; its names are never compressed.
func readNAPTR(b []byte) (r record, err error) {
	if len(b) < 7 {
		return r, errNAPTR
	}
	r.order, r.preference = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	var texts [3]string
	b = b[4:]
	for i := range texts {
		if len(b) == 0 || len(b) < 1+int(b[0]) {
			return r, errNAPTR
		}
		texts[i], b = string(b[1:1+int(b[0])]), b[1+int(b[0]):]
	}
	r.flags, r.service = strings.ToLower(texts[0]), strings.ToLower(texts[1])
	var labels []string
	for {
		if len(b) == 0 || b[0] > 63 || len(b) < 1+int(b[0]) {
			return r, errNAPTR
		}
		if b[0] == 0 {
			break
		}
		labels, b = append(labels, string(b[1:1+int(b[0])])), b[1+int(b[0]):]
	}
	r.target = strings.ToLower(strings.Join(labels, "."))
	return r, nil
}

func bare(n dnsmessage.Name) string { return strings.ToLower(strings.TrimSuffix(n.String(), ".")) }
