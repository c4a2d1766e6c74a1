package sip

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	dnsWait     = time.Second // for one server, in one of dnsRounds
	dnsRounds   = 2
	dnsSize     = 1232 // what we can take (RFC 6891), and never fragments
	ttlMost     = time.Hour
	ttlLeast    = time.Second
	ttlNothing  = 30 * time.Second // no such record
	ttlTrouble  = 2 * time.Second  // the servers did not answer
	ttlMachine  = time.Minute      // names that the machine resolves
	stale       = time.Hour        // how long old records serve while the servers are gone
	maxRemember = 2048
)

type recordType = dnsmessage.Type

const (
	typeA     = dnsmessage.TypeA
	typeAAAA  = dnsmessage.TypeAAAA
	typeSRV   = dnsmessage.TypeSRV
	typeNAPTR = recordType(35) // RFC 3403
)

// question is a name in lower case, without its final dot, and a type.
type question struct {
	name string
	kind recordType
}

// record is an answer: what its type has no use for stays zero.
type record struct {
	addr           netip.Addr
	target         string // SRV, NAPTR: where it leads
	port, weight   uint16
	order          uint16 // SRV: its priority
	preference     uint16
	flags, service string // in lower case
}

// memory is what is known of a question.
type memory struct {
	records []record
	err     error
	until   time.Time
	good    time.Time // until when records serve if the servers are gone
	waiting chan struct{}
}

// dnsClient asks name servers, each question once at a time.
type dnsClient struct {
	servers []netip.AddrPort
	hosts   string
	mu      sync.Mutex
	known   map[question]*memory
}

func newDNS(cfg ResolverConfig) *dnsClient {
	c := &dnsClient{servers: cfg.Servers, hosts: cfg.Hosts, known: make(map[question]*memory)}
	if c.servers == nil {
		c.servers = serversOf("/etc/resolv.conf")
	}
	if c.hosts == "" {
		c.hosts = "/etc/hosts"
	}
	return c
}

func serversOf(path string) []netip.AddrPort {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil
	}
	var found []netip.AddrPort
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "nameserver" {
			if a, err := netip.ParseAddr(f[1]); err == nil {
				found = append(found, netip.AddrPortFrom(a, 53))
			}
		}
	}
	return found[:min(len(found), 3)]
}

// remembered answers from memory alone.
func (c *dnsClient) remembered(q question) ([]record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.known[q]
	if m == nil || time.Now().After(m.until) {
		return nil, errNotKnown
	}
	return m.records, m.err
}

// ask answers from memory, or asks; who comes meanwhile waits for the same answer.
func (c *dnsClient) ask(ctx context.Context, q question) ([]record, error) {
	for {
		c.mu.Lock()
		m := c.known[q]
		switch {
		case m != nil && m.waiting != nil:
			waiting := m.waiting
			c.mu.Unlock()
			select {
			case <-waiting:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case m != nil && time.Now().Before(m.until):
			defer c.mu.Unlock()
			return m.records, m.err
		}
		if m == nil {
			c.makeRoom()
			m = new(memory)
			c.known[q] = m
		}
		m.waiting = make(chan struct{})
		c.mu.Unlock()
		return c.learn(ctx, q, m)
	}
}

func (c *dnsClient) makeRoom() {
	if len(c.known) < maxRemember {
		return
	}
	for q, m := range c.known {
		if m.waiting == nil {
			delete(c.known, q)
		}
	}
}

func (c *dnsClient) learn(ctx context.Context, q question, m *memory) ([]record, error) {
	records, ttl, err := c.find(ctx, q)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(m.waiting)
	now := time.Now()
	switch {
	case err == nil:
		m.records, m.err = records, nil
		m.until, m.good = now.Add(ttl), now.Add(ttl+stale)
	case len(m.records) > 0 && now.Before(m.good):
		m.err, m.until = nil, now.Add(ttlTrouble)
	default:
		m.records, m.err, m.until = nil, err, now.Add(ttlTrouble)
	}
	m.waiting = nil
	return m.records, m.err
}

// find asks the machine for the names that only it knows, the name servers
// for all others.
func (c *dnsClient) find(ctx context.Context, q question) ([]record, time.Duration, error) {
	isHost := q.kind == typeA || q.kind == typeAAAA
	if isHost {
		if found := inHosts(c.hosts, q); len(found) > 0 {
			return found, ttlMachine, nil
		}
		if len(c.servers) == 0 || !strings.Contains(q.name, ".") {
			return machine(ctx, q)
		}
	}
	if len(c.servers) == 0 || !strings.Contains(q.name, ".") {
		return nil, ttlNothing, nil
	}
	var errs error
	for range dnsRounds {
		for _, server := range c.servers {
			records, ttl, err := exchange(ctx, server, q)
			if err == nil {
				return records, ttl, nil
			}
			errs = errors.Join(errs, err)
			if ctx.Err() != nil {
				return nil, 0, errs
			}
		}
	}
	return nil, 0, errs
}

func inHosts(path string, q question) []record {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil
	}
	var found []record
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(before(line, "#"))
		if len(f) < 2 {
			continue
		}
		a, err := netip.ParseAddr(f[0])
		if err != nil || a.Unmap().Is4() != (q.kind == typeA) {
			continue
		}
		for _, name := range f[1:] {
			if strings.EqualFold(name, q.name) {
				found = append(found, record{addr: a.Unmap()})
			}
		}
	}
	return found
}

func machine(ctx context.Context, q question) ([]record, time.Duration, error) {
	family := "ip4"
	if q.kind == typeAAAA {
		family = "ip6"
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, family, q.name)
	var none *net.DNSError
	if errors.As(err, &none) && none.IsNotFound || err != nil && strings.Contains(err.Error(), "no suitable address") {
		return nil, ttlNothing, nil
	}
	found := make([]record, len(addrs))
	for i, a := range addrs {
		found[i].addr = a.Unmap()
	}
	return found, ttlMachine, err
}

// exchange asks one server, by TCP if the answer does not fit a datagram.
func exchange(ctx context.Context, server netip.AddrPort, q question) ([]record, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, dnsWait)
	defer cancel()
	id := uint16(rand.Uint32()) //nolint:gosec // ChaCha8; with the port of a fresh socket it guards against forged answers
	query, err := packed(id, q)
	if err != nil {
		return nil, 0, err
	}
	for _, network := range []string{"udp", "tcp"} {
		answer, err := roundTrip(ctx, network, server, query)
		if err != nil {
			return nil, 0, fmt.Errorf("ask %s: %w", server, err)
		}
		records, ttl, truncated, err := unpack(answer, id, q)
		if err != nil {
			return nil, 0, fmt.Errorf("answer of %s: %w", server, err)
		}
		if !truncated {
			return records, ttl, nil
		}
	}
	return nil, 0, fmt.Errorf("answer of %s: truncated", server)
}

func packed(id uint16, q question) ([]byte, error) {
	name, err := dnsmessage.NewName(q.name + ".")
	if err != nil {
		return nil, err
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: id, RecursionDesired: true})
	if err = b.StartQuestions(); err != nil {
		return nil, err
	}
	if err = b.Question(dnsmessage.Question{Name: name, Type: q.kind, Class: dnsmessage.ClassINET}); err != nil {
		return nil, err
	}
	if err = b.StartAdditionals(); err != nil {
		return nil, err
	}
	var opt dnsmessage.ResourceHeader
	if err = opt.SetEDNS0(dnsSize, dnsmessage.RCodeSuccess, false); err != nil {
		return nil, err
	}
	if err = b.OPTResource(opt, dnsmessage.OPTResource{}); err != nil {
		return nil, err
	}
	return b.Finish()
}

func roundTrip(ctx context.Context, network string, server netip.AddrPort, query []byte) ([]byte, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, server.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if network == "udp" {
		if _, err = conn.Write(query); err != nil {
			return nil, err
		}
		answer := make([]byte, 4096)
		for {
			n, failed := conn.Read(answer)
			if failed != nil {
				return nil, failed
			}
			if n >= 12 && bytes.Equal(answer[:2], query[:2]) {
				return answer[:n], nil
			}
		}
	}
	framed := binary.BigEndian.AppendUint16(nil, uint16(len(query)&0xFFFF))
	if _, err = conn.Write(append(framed, query...)); err != nil {
		return nil, err
	}
	if _, err = io.ReadFull(conn, framed); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint16(framed))
	_, err = io.ReadFull(conn, answer)
	return answer, err
}
