package forward_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/httpapi/forward"
)

// BenchmarkForwardedRequest sends a small request over a reused connection: directly to the server, through the node
// that owns the shard, and through another node. The client and the servers share one process.
func BenchmarkForwardedRequest(b *testing.B) {
	h := func(ctx *fasthttp.RequestCtx) {
		ctx.SetBodyString(`{"success":true,"data":{"id":"call_01ARZ3NDEKTSV4RRFFQ69G5FAV"}}`)
	}
	bench := func(b *testing.B, url string) {
		b.Helper()
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Get(url + "/v1/calls/call_01ARZ3NDEKTSV4RRFFQ69G5FAV")
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
				b.Fatal(resp.Status)
			}
		}
	}
	b.Run("direct", func(b *testing.B) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		s := &fasthttp.Server{Handler: h}
		go func() { _ = s.Serve(ln) }()
		defer func() { _ = s.Shutdown() }()
		bench(b, "http://"+ln.Addr().String())
	})
	for _, name := range []string{"shard on this node", "shard on another node"} {
		b.Run(name, func(b *testing.B) {
			c := mustCredential(b)
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			router := forward.NewConnRouter(c, nil)
			defer router.Close()
			go func() { _ = router.Serve(ln) }()
			s := &fasthttp.Server{Handler: h}
			go func() { _ = s.Serve(router.Listen(3)) }()
			defer func() { _ = s.Shutdown() }()
			cfg := forward.Config{Shards: 8, Owner: func(int) (string, bool) { return ln.Addr().String(), true }, Credential: c, Shard: func(*http.Request, []byte) (int, error) { return 3, nil }}
			if name == "shard on this node" {
				cfg.Local, cfg.Self = router, ln.Addr().String()
			}
			f := forward.New(cfg)
			defer f.Close()
			front := httptest.NewServer(f)
			defer front.Close()
			bench(b, front.URL)
		})
	}
}

func mustCredential(b *testing.B) *forward.Credential {
	b.Helper()
	c, err := forward.NewCredential(make([]byte, forward.SeedSize))
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkNodeRequest measures a request from one node to another, such as a call owner lookup.
func BenchmarkNodeRequest(b *testing.B) {
	c := mustCredential(b)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	router := forward.NewConnRouter(c, nil)
	defer router.Close()
	router.HandleNodeRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	go func() { _ = router.Serve(ln) }()
	f := forward.New(forward.Config{Shards: 8, Credential: c})
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.RequestNode(b.Context(), ln.Addr().String(), []byte(`{"to":"02079460001","source":"198.51.100.7:5060"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
