package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	queryTimeout = time.Second // for one server, UDP and TCP together
	queryRounds  = 2           // rounds through all servers
	maxServers   = 3           // maximum in resolv.conf(5)
	ednsSize     = 1232        // UDP payload in bytes that usual networks do not fragment (RFC 9715)
	maxAnswers   = 64          // records that are read from one response
	maxCNAMEs    = 8           // in the chain of one name
)

var (
	errOtherQuestion = errors.New("the response belongs to another question")
	errTruncated     = errors.New("the response is truncated")
)

// dnsAnswer is the result of a lookup. If records is empty, no record of the requested type exists. ttl says how long
// the result may be cached.
type dnsAnswer struct {
	records []dns.RR
	ttl     time.Duration
}

// dnsClient looks up records in the hosts file and at the name servers.
type dnsClient struct {
	servers []netip.AddrPort
	hosts   string // path of a file in the format of hosts(5)
}

func newDNSClient(cfg Config) *dnsClient {
	c := &dnsClient{servers: cfg.Servers, hosts: cfg.Hosts}
	if c.servers == nil {
		c.servers = readResolvConf("/etc/resolv.conf")
	}
	if c.hosts == "" {
		c.hosts = "/etc/hosts"
	}
	return c
}

// readResolvConf returns the name servers of a resolv.conf(5) file, or none if the file cannot be read.
func readResolvConf(path string) []netip.AddrPort {
	cfg, err := dns.ClientConfigFromFile(path)
	if err != nil {
		return nil
	}
	var servers []netip.AddrPort
	for _, text := range cfg.Servers {
		if ip, err := netip.ParseAddr(text); err == nil {
			servers = append(servers, netip.AddrPortFrom(ip, 53))
		}
	}
	return servers[:min(len(servers), maxServers)]
}

// newQuestion returns the DNS question for a host name. The name may end with a dot.
func newQuestion(host string, qtype uint16) dns.Question {
	return dns.Question{Name: dns.CanonicalName(host), Qtype: qtype, Qclass: dns.ClassINET}
}

// lookup takes addresses from the hosts file first, and otherwise queries the name servers. The operating system resolves
// names without a dot, and all names if the machine has no name servers.
func (c *dnsClient) lookup(ctx context.Context, q dns.Question) (dnsAnswer, error) {
	ofSystem := len(c.servers) == 0 || dns.CountLabel(q.Name) < 2
	if q.Qtype == dns.TypeA || q.Qtype == dns.TypeAAAA {
		if records := readHosts(c.hosts, q); len(records) > 0 {
			return dnsAnswer{records, localTTL}, nil
		}
		if ofSystem {
			return lookupSystem(ctx, q)
		}
	}
	if ofSystem {
		return dnsAnswer{ttl: negativeTTL}, nil
	}
	return c.lookupDNS(ctx, q)
}

// lookupDNS queries the name servers. If a response ends with a CNAME without records of its target, it queries the
// target too.
func (c *dnsClient) lookupDNS(ctx context.Context, q dns.Question) (dnsAnswer, error) {
	chain := cnameChain{name: q.Name, ttl: maxTTL}
	for {
		q.Name = chain.name
		m, err := c.query(ctx, q)
		if err != nil {
			return dnsAnswer{}, err
		}
		chain.follow(m, q.Qtype)
		if len(chain.records) > 0 {
			return dnsAnswer{chain.records, max(chain.ttl, minTTL)}, nil
		}
		ttl, isNegative := negativeTTLOf(m)
		if isNegative || chain.name == q.Name || chain.length > maxCNAMEs {
			return dnsAnswer{ttl: max(min(chain.ttl, ttl), minTTL)}, nil
		}
	}
}

// query sends the question to the name servers in order until one answers.
func (c *dnsClient) query(ctx context.Context, q dns.Question) (*dns.Msg, error) {
	var errs error
	for range queryRounds {
		for _, server := range c.servers {
			m, err := exchange(ctx, server, q)
			if err == nil {
				return m, nil
			}
			errs = errors.Join(errs, fmt.Errorf("query %s: %w", server, err))
			if ctx.Err() != nil {
				return nil, errs
			}
		}
	}
	return nil, errs
}

// exchange queries one server over UDP, and over TCP if the response is truncated.
func exchange(ctx context.Context, server netip.AddrPort, q dns.Question) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	query := &dns.Msg{MsgHdr: dns.MsgHdr{Id: dns.Id(), RecursionDesired: true}, Question: []dns.Question{q}}
	query.SetEdns0(ednsSize, false)
	udp, tcp := dns.Client{Net: "udp", Timeout: queryTimeout}, dns.Client{Net: "tcp", Timeout: queryTimeout}
	m, _, err := udp.ExchangeContext(ctx, query, server.String())
	if m != nil && m.Id == query.Id && m.Truncated { // the last record may be cut, which is a parse error
		m, _, err = tcp.ExchangeContext(ctx, query, server.String())
	}
	if err != nil {
		return nil, err
	}
	return m, checkResponse(m, q)
}

func checkResponse(m *dns.Msg, q dns.Question) error {
	switch {
	case !m.Response || len(m.Question) != 1 || newQuestion(m.Question[0].Name, m.Question[0].Qtype) != q:
		return errOtherQuestion
	case m.Truncated: // over TCP, where truncation makes no sense
		return errTruncated
	case m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError:
		return fmt.Errorf("refused: %s", dns.RcodeToString[m.Rcode])
	}
	return nil
}

// cnameChain is the state of a lookup that follows CNAME records until it finds records of the requested type.
type cnameChain struct {
	name    string // target of the last CNAME
	length  int
	ttl     time.Duration // the shortest of the chain
	records []dns.RR
}

func (c *cnameChain) follow(m *dns.Msg, qtype uint16) {
	for len(c.records) == 0 && c.length <= maxCNAMEs {
		target := ""
		for _, rr := range m.Answer[:min(len(m.Answer), maxAnswers)] {
			h := rr.Header()
			if h.Class != dns.ClassINET || dns.CanonicalName(h.Name) != c.name {
				continue
			}
			switch cname, ok := rr.(*dns.CNAME); {
			case ok:
				target = dns.CanonicalName(cname.Target)
			case h.Rrtype == qtype:
				c.records = append(c.records, rr)
			default:
				continue
			}
			c.ttl = min(c.ttl, time.Duration(h.Ttl)*time.Second)
		}
		if target == "" {
			return
		}
		c.name = target
		c.length++
	}
}

// negativeTTLOf reads the SOA record of a response without records (RFC 2308 §5). ok reports whether no such record
// exists for certain. It is false for a CNAME without records of its target and without SOA record.
func negativeTTLOf(m *dns.Msg) (ttl time.Duration, ok bool) {
	for _, rr := range m.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			return min(time.Duration(min(soa.Hdr.Ttl, soa.Minttl))*time.Second, maxNegativeTTL), true
		}
	}
	return negativeTTL, m.Rcode == dns.RcodeNameError
}

// lookupSystem asks the resolver of the operating system.
func lookupSystem(ctx context.Context, q dns.Question) (dnsAnswer, error) {
	family := "ip4"
	if q.Qtype == dns.TypeAAAA {
		family = "ip6"
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, family, strings.TrimSuffix(q.Name, "."))
	var failure *net.DNSError
	if errors.As(err, &failure) && failure.IsNotFound || err != nil && strings.Contains(err.Error(), "no suitable address") {
		return dnsAnswer{ttl: negativeTTL}, nil
	}
	answer := dnsAnswer{ttl: localTTL}
	for _, ip := range addrs {
		answer.records = append(answer.records, addressRecord(q, ip.Unmap()))
	}
	return answer, err
}

func addressRecord(q dns.Question, ip netip.Addr) dns.RR {
	h := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET}
	if ip.Is4() {
		return &dns.A{Hdr: h, A: ip.AsSlice()}
	}
	return &dns.AAAA{Hdr: h, AAAA: ip.AsSlice()}
}
