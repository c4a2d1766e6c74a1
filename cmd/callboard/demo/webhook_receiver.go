package demo

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// webhookReceiver is an HTTPS endpoint on loopback that records the first requests it receives.
type webhookReceiver struct {
	ln       net.Listener
	server   *http.Server
	url      string
	pem      []byte
	mu       sync.Mutex
	requests []receivedWebhook
	total    int
}

type receivedWebhook struct {
	kind string
	text string
}

func (r *webhookReceiver) handle(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var e struct{ Type string }
	_ = json.Unmarshal(body, &e) // the body is printed in any case
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "    ", "  ") != nil {
		pretty.Write(body)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "    POST %s\n", req.URL.Path)
	for _, h := range []string{"Content-Type", "X-Svc-Signature", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		if v := req.Header.Get(h); v != "" {
			fmt.Fprintf(&b, "    %s: %s\n", h, v)
		}
	}
	fmt.Fprintf(&b, "\n    %s", pretty.String())
	r.mu.Lock()
	r.total++
	if len(r.requests) < 500 {
		r.requests = append(r.requests, receivedWebhook{e.Type, b.String()})
	}
	r.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (r *webhookReceiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

func (r *webhookReceiver) firstRequest(kind string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.requests {
		if g.kind == kind {
			return g.text, true
		}
	}
	return "", false
}

func (r *webhookReceiver) close() { _ = r.server.Close() }

// newWebhookReceiver starts a receiver with a self-signed certificate, which exists only in this process.
func newWebhookReceiver() (*webhookReceiver, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "Callboard demo receiver"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(30 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &webhookReceiver{
		ln: ln, url: "https://" + ln.Addr().String() + "/webhook",
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
	r.server = &http.Server{
		Handler: http.HandlerFunc(r.handle), ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
	}
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	go func() {
		_ = r.server.Serve(tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}))
	}()
	return r, nil
}
