// Package setup turns the answers of whoever sets a service up into the file of
// environment variables that the service reads, and into its first trunk. It
// asks on a terminal what no flag has said. It starts nothing.
package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/configs"
)

// Answers are what a setup needs to know. What is empty is asked for, or left
// out where nobody can be asked.
type Answers struct {
	Data          string
	MasterKeyFile string
	SIP           string // address and port that SIP listens at
	PublicIP      string
	MediaPorts    string
	HTTP          string
	PublicURL     string
	TLSCert       string
	TLSKey        string
	Proxies       string // networks of a proxy in front that speaks TLS
	RedisURL      string

	TrunkHost      string
	TrunkPort      int
	TrunkTransport string
	TrunkUser      string
	TrunkPassword  string
	TrunkRegister  bool
	CallerID       string
	TestCall       string // a number that is rung in the end
	// Hidden reads a line that is not shown, for the password; nil: it is shown.
	Hidden func() (string, error)
}

// Where a service lies unless somebody says otherwise.
const (
	DefaultData  = "/var/lib/callboard"
	DefaultMedia = "20000-29999"
	behindHTTP   = "127.0.0.1:8080"
	secureHTTP   = ":8443"
	sipPort      = 5060
)

// Interview asks for what is missing: at a terminal a question each, else it
// takes what is usual.
func (a *Answers) Interview(in io.Reader, out io.Writer, ask bool) error {
	q := &interviewer{lines: bufio.NewScanner(in), out: out, ask: ask, hidden: a.Hidden}
	q.text(&a.Data, "Folder for everything durable", DefaultData)
	if abs, err := filepath.Abs(a.Data); err == nil {
		a.Data = abs
	}
	q.text(&a.MasterKeyFile, "File with the master key, outside of that folder (empty: in the folder)", "")
	q.text(&a.SIP, "Address and port at which SIP listens", defaultSIP())
	if at, err := netip.ParseAddrPort(a.SIP); err == nil && (at.Addr().IsPrivate() || at.Addr().IsUnspecified()) {
		q.text(&a.PublicIP, "Public address that carriers answer to (empty: they are in the same network)", "")
	}
	q.text(&a.MediaPorts, "UDP ports for sound, two per call, as the firewall opens them", DefaultMedia)
	q.text(&a.TLSCert, "Certificate chain for HTTPS, PEM (empty: a proxy speaks TLS, or HTTP stays on this machine)", "")
	usual := behindHTTP
	if a.TLSCert != "" {
		q.text(&a.TLSKey, "Its private key, PEM", "")
		usual = "0.0.0.0" + secureHTTP
	}
	q.text(&a.HTTP, "Address and port of the API and the dashboard", usual)
	q.text(&a.PublicURL, "URL under which others reach it (empty: made of that address)", "")
	q.text(&a.TrunkHost, "Host of the carrier's SIP proxy (empty: no trunk yet)", "")
	if a.TrunkHost != "" {
		q.text(&a.TrunkTransport, "Transport: udp, tcp or tls", "udp")
		q.text(&a.TrunkUser, "User name at the carrier (empty: it knows this address)", "")
		if a.TrunkUser != "" && a.TrunkPassword == "" {
			q.secret(&a.TrunkPassword, "Password")
		}
		q.text(&a.CallerID, "Number that is shown, such as +12025550100", "")
		q.text(&a.TestCall, "Number to ring for a test, such as your own (empty: none)", "")
	}
	return q.err
}

type interviewer struct {
	lines *bufio.Scanner
	out   io.Writer
	ask   bool
	err   error
	// hidden reads a line that is not shown; nil: everything is.
	hidden func() (string, error)
}

// text keeps what was said by a flag; else asks; else takes the usual answer.
func (q *interviewer) text(to *string, question, usual string) {
	if *to != "" || q.err != nil {
		return
	}
	if *to = usual; !q.ask {
		return
	}
	shown := ""
	if usual != "" {
		shown = " [" + usual + "]"
	}
	_, _ = fmt.Fprintf(q.out, "%s%s: ", question, shown)
	if !q.lines.Scan() {
		if q.err = q.lines.Err(); q.err == nil {
			q.err = io.ErrUnexpectedEOF
		}
		return
	}
	if text := strings.TrimSpace(q.lines.Text()); text != "" {
		*to = text
	}
}

// secret asks for what is not shown.
func (q *interviewer) secret(to *string, question string) {
	if q.hidden == nil {
		q.text(to, question, "")
		return
	}
	if !q.ask {
		return
	}
	_, _ = fmt.Fprintf(q.out, "%s: ", question)
	text, err := q.hidden()
	if q.err = errors.Join(q.err, err); err == nil {
		*to = strings.TrimSpace(text)
	}
	_, _ = fmt.Fprintln(q.out)
}

// defaultSIP is the address of this machine by which it reaches others.
func defaultSIP() string {
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), "udp", "192.0.2.1:9") // sends nothing
	if err == nil {
		defer func() { _ = conn.Close() }()
		if at, err := netip.ParseAddrPort(conn.LocalAddr().String()); err == nil {
			return netip.AddrPortFrom(at.Addr().Unmap(), sipPort).String()
		}
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), sipPort).String()
}

// Lines are the variables of the environment, in the order of the settings.
func (a *Answers) Lines() []string {
	said := map[string]string{
		"data": a.Data, "master_key_file": a.MasterKeyFile, "redis_url": a.RedisURL, "sip_addr": a.SIP, "public_ip": a.PublicIP, "media_ports": a.MediaPorts,
		"http_addr": a.HTTP, "public_url": a.PublicURL, "tls_cert": a.TLSCert, "tls_key": a.TLSKey, "trusted_proxies": a.Proxies,
		"log_format": string(configs.LogJSON),
	}
	if to, ok := a.private(); ok {
		said["egress_allow"] = to
	}
	var lines []string
	for _, s := range configs.Settings() {
		if value := said[s.Key]; value != "" && value != s.Default {
			lines = append(lines, s.Env+"="+value)
		}
	}
	return lines
}

// private is the carrier's address where tenants may not name it by default.
func (a *Answers) private() (string, bool) {
	ip, err := netip.ParseAddr(a.TrunkHost)
	if err != nil || !ip.IsPrivate() && !ip.IsLoopback() {
		return "", false
	}
	return netip.PrefixFrom(ip, ip.BitLen()).String(), true
}

// Check reads the settings as the service will and looks at the trunk.
func (a *Answers) Check() (*configs.Config, error) {
	if strings.ContainsAny(strings.Join(a.Lines(), ""), "\r\n\x00") {
		return nil, errors.New("an answer must fit on one line")
	}
	if a.TrunkHost == "" && (a.TestCall != "" || a.TrunkUser != "" || a.CallerID != "") {
		return nil, errors.New("--trunk-host must say which carrier --test-call, --trunk-user and --caller-id are meant for")
	}
	if a.TestCall != "" && a.CallerID == "" {
		return nil, errors.New("--caller-id must say which number a test call shows")
	}
	if (a.TrunkUser == "") != (a.TrunkPassword == "") {
		return nil, errors.New("a trunk needs user name and password, or neither")
	}
	if a.TrunkHost != "" && !slices.Contains([]string{"udp", "tcp", "tls"}, a.TrunkTransport) {
		return nil, errors.New("--trunk-transport must be udp, tcp or tls")
	}
	if a.TrunkPort < 0 || a.TrunkPort > 65535 {
		return nil, errors.New("--trunk-port must be 1 to 65535, or 0: the usual one")
	}
	return configs.Load("", a.Lines(), nil)
}

// head stands above the variables.
const head = `# Written by callboard init. The service reads it: callboard serve --env-file FILE.
# Every setting: docs/configuration.md
`

// Write writes the file for its owner alone; one that is there is kept unless
// it may be replaced.
func (a *Answers) Write(path string, replace bool) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	part := path
	if replace {
		part = path + ".part"
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(part, mode, 0o600) //nolint:gosec // the operator names it
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: --force replaces it", path)
	}
	if err != nil {
		return err
	}
	lines := a.Lines()
	for i, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		lines[i] = name + "=" + quoted(value)
	}
	_, err = f.WriteString(head + strings.Join(lines, "\n") + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil && part != path {
		asBefore(part, path)
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

// asBefore gives a file the group and the rights of the one that it replaces: a
// service that could read that can read this.
func asBefore(part, path string) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Chown(part, int(st.Uid), int(st.Gid)) == nil {
		_ = os.Chmod(part, info.Mode().Perm()&0o640)
	}
}

// quoted is a value as systemd, a shell and ReadEnv take it alike.
func quoted(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool {
		return !strings.ContainsRune("-_./:,@+=[]", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return value
}

// envMost bounds a file of variables.
const envMost = 1 << 20

// ReadEnv reads the variables of a file: NAME=VALUE on each line, the value in
// quotes where it has to be; # begins a comment.
func ReadEnv(path string) ([]string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []string
	lines := bufio.NewScanner(io.LimitReader(f, envMost))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if ok {
			value, ok = unquoted(value)
		}
		if !ok || name == "" || strings.ContainsAny(name, " \t'\"") {
			return nil, fmt.Errorf("%s:%d: must be NAME=VALUE, the value in quotes where it has spaces", path, n)
		}
		out = append(out, name+"="+value)
	}
	return out, lines.Err()
}

func unquoted(text string) (string, bool) {
	switch {
	case len(text) >= 2 && text[0] == '\'' && strings.HasSuffix(text, "'"):
		inner := strings.ReplaceAll(text[1:len(text)-1], `'\''`, "\x00")
		return strings.ReplaceAll(inner, "\x00", "'"), !strings.Contains(inner, "'")
	case strings.HasPrefix(text, `"`):
		inner, err := strconv.Unquote(text)
		return inner, err == nil
	}
	return text, !strings.ContainsAny(text, " \t'\"")
}

// Trunk is the first trunk as the API takes it.
func (a *Answers) Trunk() *client.NewTrunk {
	proxy := client.NewProxy{Host: a.TrunkHost, Transport: &a.TrunkTransport}
	if a.TrunkPort != 0 {
		proxy.Port = new(int64(a.TrunkPort))
	}
	t := &client.NewTrunk{Name: a.TrunkHost, Proxies: []client.NewProxy{proxy}, Register: &a.TrunkRegister}
	if a.CallerID != "" {
		t.CallerIDs = []string{a.CallerID}
	}
	if a.TrunkUser != "" {
		t.Auth = &client.NewTrunkAuth{Username: a.TrunkUser, Password: &a.TrunkPassword}
	}
	return t
}
