package doctor_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/doctor"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// asPatient tells the test binary to be a process with a fault of its own: it
// looks at itself and prints what it found.
const asPatient = "DOCTOR_TEST_PATIENT"

func TestMain(m *testing.M) {
	if data := os.Getenv(asPatient); data != "" {
		cfg, err := configs.Load("", []string{"CALLBOARD_DATA=" + data}, nil)
		v := &doctor.Diagnosis{Config: cfg, Faulty: err, Running: true}
		_ = json.NewEncoder(os.Stdout).Encode(v.Run(context.Background()))
		return
	}
	os.Exit(m.Run())
}

// bed is a service to be, well but for what a case plants.
type bed struct {
	*testing.T
	dir, data string
	env       []string
	diagnosis *doctor.Diagnosis
	found     []doctor.Finding // findings that a process reported about itself; nil: run diagnosis
}

func newBed(t *testing.T) *bed {
	t.Helper()
	dir := t.TempDir()
	b := &bed{T: t, dir: dir, data: filepath.Join(dir, "data"), diagnosis: &doctor.Diagnosis{}}
	require.NoError(t, os.Mkdir(b.data, 0o700))
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	low := siptest.MediaPorts400(t)
	b.set("data", b.data).set("http_addr", fmt.Sprintf("127.0.0.1:%d", siptest.Port(t))).set("sip_addr", fmt.Sprintf("127.0.0.1:%d", siptest.Port(t)))
	b.set("media_ports", fmt.Sprintf("%d-%d", low, low+199)).set("master_key_file", b.file("master.key", string(key)))
	return b
}

// set sets a setting; the last one wins.
func (b *bed) set(key, value string) *bed {
	name := "CALLBOARD_" + strings.ToUpper(key) + "="
	b.env = append(slices.DeleteFunc(b.env, func(line string) bool { return strings.HasPrefix(line, name) }), name+value)
	return b
}

func (b *bed) get(key string) string {
	name := "CALLBOARD_" + strings.ToUpper(key) + "="
	i := slices.IndexFunc(b.env, func(line string) bool { return strings.HasPrefix(line, name) })
	return strings.TrimPrefix(b.env[i], name)
}

func (b *bed) file(name, text string) string {
	b.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(b, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (b *bed) diagnose() []doctor.Finding {
	b.Helper()
	if b.found != nil {
		return b.found
	}
	b.diagnosis.Config, b.diagnosis.Faulty = configs.Load("", b.env, nil)
	b.diagnosis.Env = b.env
	return b.diagnosis.Run(b.Context())
}

// inside lets another process look at itself.
func (b *bed) inside(name string, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	cmd.Env = append(os.Environ(), asPatient+"="+b.data)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(b, err, "%s", &errs)
	require.NoError(b, json.Unmarshal(out, &b.found))
}

// listen takes a port.
func (b *bed) listen(network, at string) {
	b.Helper()
	if network == "udp" {
		c, err := new(net.ListenConfig).ListenPacket(b.Context(), network, at)
		require.NoError(b, err)
		b.Cleanup(func() { _ = c.Close() })
		return
	}
	l, err := new(net.ListenConfig).Listen(b.Context(), network, at)
	require.NoError(b, err)
	b.Cleanup(func() { _ = l.Close() })
}

// closedPort is an address at which nobody listens.
func (b *bed) closedPort() string {
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	_ = l.Close()
	return l.Addr().String()
}

// leaf is a certificate that a case spoils.
func leaf() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "calls.example.com"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
	}
}

// secure gives the HTTP listener a certificate, signed by an authority that
// nobody knows, or by itself.
func (b *bed) secure(c *x509.Certificate, bits int, self bool) *bed {
	b.Helper()
	root, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b, err)
	authority := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "an authority"}, NotBefore: c.NotBefore, NotAfter: c.NotAfter, IsCA: true, BasicConstraintsValid: true}
	var key any = root
	var public any = &root.PublicKey
	if bits > 0 {
		b.Setenv("GODEBUG", "rsa1024min=0")
		weak, err := rsa.GenerateKey(rand.Reader, bits)
		require.NoError(b, err)
		key, public = weak, &weak.PublicKey
	}
	if self {
		authority = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, authority, public, root)
	require.NoError(b, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(b, err)
	b.set("tls_cert", b.file("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))))
	return b.set("tls_key", b.file("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))))
}

func (b *bed) chmod(path string, mode os.FileMode) {
	b.Helper()
	require.NoError(b, os.Chmod(path, mode))
}

// faults are planted for real, each in a service that is well otherwise.
func faults() map[string]func(*bed) {
	all := map[string]func(*bed){
		"settings":     func(b *bed) { b.set("sip_adr", "127.0.0.1:5060") },
		"open_files":   func(b *bed) { b.inside("sh", "-c", `ulimit -n 200; exec "$0"`, os.Args[0]) },
		"espeak-ng":    func(b *bed) { b.Setenv("PATH", b.dir) },
		"pocketsphinx": func(b *bed) { b.Setenv("PATH", b.dir) },
		"clock":        func(b *bed) { b.diagnosis.Clock = b.slowClock() },
		"clock_back":   func(b *bed) { b.later(b.file("data/store.log", "x")) },
		"data_folder":  func(b *bed) { b.set("data", b.file("no-folder", "")) },
		"data_mode":    func(b *bed) { b.chmod(b.data, 0o755) },
		"data_owner":   func(b *bed) { b.elsewhere() },
		"data_write":   func(b *bed) { b.set("data", "/proc/self") },
		"data_passing": func(b *bed) { b.set("data", b.passing()) },
		"store_format": func(b *bed) {
			b.diagnosis.TooNew = errors.New("written by a newer version")
			b.diagnosis.StoreFormat = func(context.Context) (string, error) { return "", fmt.Errorf("store: %w", b.diagnosis.TooNew) }
		},
		"disk":        func(b *bed) { b.diagnosis.Free = math.MaxInt64 }, // no disk has that
		"master_key":  func(b *bed) { b.file("master.key", "too short") },
		"key_mode":    func(b *bed) { b.chmod(b.file("data/test.key", "svc_sk_test_x"), 0o644) },
		"admin_key":   func(b *bed) { b.file("data/admin.key", "svc_sk_live_x") },
		"http_port":   func(b *bed) { b.listen("tcp", b.get("http_addr")) },
		"sip_port":    func(b *bed) { b.listen("udp", b.get("sip_addr")) },
		"admin_port":  func(b *bed) { b.set("admin_addr", "127.0.0.1:"+port(b.T)); b.listen("tcp", b.get("admin_addr")) },
		"media_ports": func(b *bed) { low, _, _ := strings.Cut(b.get("media_ports"), "-"); b.listen("udp", "127.0.0.1:"+low) },
		"media_room": func(b *bed) {
			low, _, _ := strings.Cut(b.get("media_ports"), "-")
			b.set("media_ports", low+"-"+low[:len(low)-1]+"9")
		},
		"nat":          func(b *bed) { b.set("sip_addr", "10.255.1.2:5060") },
		"sip_loopback": func(*bed) {},
		"egress_open":  func(b *bed) { b.set("egress_allow", "0.0.0.0/0") },
		"engines_file": func(b *bed) { b.set("engines_file", b.file("engines.yaml", "engines: {a: {kind: pigeon, tts: {}}}")) },
		"engines_mode": func(b *bed) {
			b.set("engines_file", b.file("engines.yaml", "engines: {}\n"))
			b.chmod(b.get("engines_file"), 0o666)
		},
		"engine":       func(b *bed) { b.engine("http://" + b.closedPort()) },
		"engine_key":   func(b *bed) { b.engine(b.server(http.StatusUnauthorized).URL) },
		"redis":        func(b *bed) { b.set("redis_url", "redis://"+b.closedPort()) },
		"redis_policy": func(b *bed) { b.redis("--maxmemory-policy", "allkeys-lru") },
		"redis_append": func(b *bed) { b.redis("--appendonly", "no") },
		"redis_sync":   func(b *bed) { b.redis("--appendfsync", "everysec") },
		"redis_memory": func(b *bed) { b.redis("--maxmemory", "0") },
		"egress":       func(b *bed) { b.diagnosis.Reach = "https://" + b.closedPort() },
		"authorities":  func(b *bed) { b.set("egress_ca_file", b.file("ca.pem", "no certificate")) },
		"service":      func(b *bed) { b.diagnosis.Running = true },
		"http_clear":   func(b *bed) { b.set("http_addr", "0.0.0.0:"+port(b.T)).set("insecure_http", "true") },
		"public_url":   func(b *bed) { b.set("public_url", "http://10.1.2.3") },
		"socket_buffers": func(b *bed) {
			b.diagnosis.Buffer = 1 << 30 // no kernel grants that
		},
		"address_elsewhere":  func(b *bed) { b.set("sip_addr", "192.0.2.1:5060") },
		"media_ephemeral":    func(b *bed) { b.set("media_ports", ephemeral(b)) },
		"public_ip":          func(b *bed) { b.set("public_ip", "10.1.2.3") },
		"public_url_name":    func(b *bed) { b.set("public_url", "https://calls.invalid") },
		"egress_metadata":    func(b *bed) { b.set("egress_allow", "169.254.0.0/16") },
		"egress_certificate": func(b *bed) { b.diagnosis.Reach = b.unknownServer() },
		"master_key_lost": func(b *bed) {
			b.set("master_key_file", "")
			require.NoError(b, os.Mkdir(filepath.Join(b.data, "store"), 0o700))
		},
		"master_key_mode": func(b *bed) { b.chmod(b.get("master_key_file"), 0o644) },
		"master_key_place": func(b *bed) {
			require.NoError(b, os.Rename(b.get("master_key_file"), filepath.Join(b.data, "master.key")))
			b.set("master_key_file", "")
		},
		"master_key_entropy": func(b *bed) { b.file("master.key", strings.Repeat("42", 32)) },
		"data":               func(b *bed) { b.set("data", filepath.Join(b.dir, strings.Repeat("d", 300))) },
		"engine_clear":       func(b *bed) { b.engine("http://192.0.2.1") },
		"bucket":             func(b *bed) { b.bucket("", false, errors.New("the store answers 403 AccessDenied")) },
		"bucket_versions":    func(b *bed) { b.bucket("the bucket calls", true, nil) },
		"redis_open":         func(b *bed) { b.set("redis_url", "redis://192.0.2.1:6379") },
	}
	maps.Copy(all, servedFaults())
	maps.Copy(all, nodeFaults())
	for check, spoil := range map[string]func(*x509.Certificate){
		"certificate_expired": func(c *x509.Certificate) { c.NotBefore, c.NotAfter = c.NotBefore.Add(-48*time.Hour), c.NotBefore },
		"certificate_expires": func(c *x509.Certificate) { c.NotAfter = time.Now().Add(24 * time.Hour) },
		"certificate_early":   func(c *x509.Certificate) { c.NotBefore = time.Now().Add(24 * time.Hour) },
		"certificate_name":    func(c *x509.Certificate) { c.DNSNames = []string{"other.example.com"} },
		"certificate_chain":   func(*x509.Certificate) {},
	} {
		all[check] = func(b *bed) {
			c := leaf()
			spoil(c)
			b.secure(c, 0, false).set("public_url", "https://localhost")
		}
	}
	all["certificate_self"] = func(b *bed) { b.secure(leaf(), 0, true) }
	all["certificate_weak"] = func(b *bed) { b.secure(leaf(), 1024, false) }
	all["certificate_key"] = func(b *bed) { b.secure(leaf(), 0, true); b.file("key.pem", "no key") }
	all["certificate_key_mode"] = func(b *bed) { b.secure(leaf(), 0, true); b.chmod(b.get("tls_key"), 0o644) }
	return all
}

func port(t *testing.T) string { return strconv.Itoa(siptest.Port(t)) }

func ephemeral(b *bed) string {
	b.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	require.NoError(b, err)
	low := 0
	_, err = fmt.Sscan(string(text), &low)
	require.NoError(b, err)
	return fmt.Sprintf("%d-%d", low, low+201)
}

// slowClock is a server whose clock stands ten minutes behind.
func (b *bed) slowClock() string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(-10*time.Minute).UTC().Format(http.TimeFormat))
	}))
	b.Cleanup(s.Close)
	return s.URL
}

func (b *bed) later(path string) {
	b.Helper()
	ahead := time.Now().Add(time.Hour)
	require.NoError(b, os.Chtimes(path, ahead, ahead))
}

// elsewhere names a folder that belongs to another user: as root one in which
// root has left a file.
func (b *bed) elsewhere() {
	b.Helper()
	if os.Geteuid() != 0 {
		b.set("data", "/usr")
		return
	}
	b.file("data/callboard.lock", "")
	require.NoError(b, os.Chown(b.data, 12345, 12345))
}

func (b *bed) passing() string {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "doctor-")
	require.NoError(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (b *bed) server(status int) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	b.Cleanup(s.Close)
	return s
}

func (b *bed) unknownServer() string {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = nil
	s.StartTLS()
	b.Cleanup(s.Close)
	return s.URL
}

func (b *bed) bucket(place string, versioned bool, err error) {
	b.diagnosis.Bucket = func(context.Context) (string, bool, error) { return place, versioned, err }
}

func (b *bed) engine(url string) {
	b.Helper()
	b.set("engines_file", b.file("engines.yaml", "engines: {voice: {kind: openai, url: '"+url+"', key_file: "+b.file("engine.key", "sk-x")+", tts: {}}}\n"))
}

func (b *bed) redis(args ...string) {
	b.Helper()
	url, _ := redistest.Start(b.T, args...)
	b.set("redis_url", url)
}

func found(list []doctor.Finding, check string) (out []doctor.Finding) {
	for _, f := range list {
		if f.Check == check && f.State != doctor.OK {
			out = append(out, f)
		}
	}
	return out
}

// plain is the name of a finding, of several cases of which one is a case.
func plain(name string) string {
	check, _, _ := strings.Cut(name, " ")
	return check
}

func TestEveryFaultIsFoundWithARemedy(t *testing.T) {
	all := faults()
	assert.GreaterOrEqual(t, len(all), 70)
	for name, plant := range all {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			plant(b)
			list := b.diagnose()
			of := found(list, plain(name))
			require.NotEmpty(t, of, "%+v", list)
			for _, f := range of {
				assert.NotEmpty(t, f.What)
				assert.NotEmpty(t, f.Remedy, "%s is found, and nobody is told what to do", f.What)
			}
		})
	}
}

// What is well is not complained about: each check that a fault above trips is
// silent where nothing is planted.
func TestHealthyServiceHasNoFindings(t *testing.T) {
	b := newBed(t)
	ours := b.diagnose()
	assert.NotEqual(t, doctor.Bad, doctor.Worst(ours), "%+v", ours)
	for check := range faults() {
		check, _, _ = strings.Cut(check, " ")
		switch check {
		case "sip_loopback": // the bed listens there
		case "espeak-ng", "pocketsphinx", "socket_buffers", "open_files", "disk": // as the machine is
		default:
			assert.Empty(t, found(ours, check), check)
		}
	}
	url, _ := redistest.Start(t, "--maxmemory", "100mb")
	assert.Empty(t, found(b.set("redis_url", url).diagnose(), "redis_memory"))
	b.diagnosis.Clock = b.server(http.StatusOK).URL
	assert.Empty(t, found(b.diagnose(), "clock"))
}

func TestFindingsContainNoSecrets(t *testing.T) {
	b := newBed(t)
	b.engine(b.server(http.StatusUnauthorized).URL)
	b.set("redis_url", "redis://user:top-secret@"+b.closedPort())
	for _, f := range b.diagnose() {
		assert.NotContains(t, f.What+f.Remedy, "top-secret")
		assert.NotContains(t, f.What+f.Remedy, "sk-x")
	}
}

func TestWorstStateOfFindings(t *testing.T) {
	assert.Equal(t, doctor.OK, doctor.Worst(nil))
	assert.Equal(t, doctor.Warn, doctor.Worst([]doctor.Finding{{State: doctor.Warn}, {State: doctor.OK}}))
	assert.Equal(t, doctor.Bad, doctor.Worst([]doctor.Finding{{State: doctor.Warn}, {State: doctor.Bad}, {State: doctor.OK}}))
}
