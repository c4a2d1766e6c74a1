package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// What of etcd's API is used, as its gateway words it in JSON: bytes are base64,
// numbers of 64 bits are texts.

type keyRange struct {
	Key    []byte `json:"key"`
	End    []byte `json:"range_end,omitempty"`
	MinMod int64  `json:"min_mod_revision,omitempty,string"`
}

type put struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
	Lease int64  `json:"lease,omitempty,string"`
}

type operation struct {
	Range *keyRange `json:"request_range,omitempty"`
	Put   *put      `json:"request_put,omitempty"`
}

// compare demands something of a key; exactly one of the last three is set.
type compare struct {
	Result string `json:"result"` // EQUAL, GREATER
	Target string `json:"target"` // MOD, CREATE, VALUE
	Key    []byte `json:"key"`
	Mod    *int64 `json:"mod_revision,omitempty,string"`
	Create *int64 `json:"create_revision,omitempty,string"`
	Value  []byte `json:"value,omitempty"`
}

type txn struct {
	Compare []compare   `json:"compare,omitempty"`
	Success []operation `json:"success,omitempty"`
	Failure []operation `json:"failure,omitempty"`
}

type header struct {
	Revision int64 `json:"revision,string"`
}

type pair struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
	Mod   int64  `json:"mod_revision,string"`
}

type txnAnswer struct {
	Header    header `json:"header"`
	Succeeded bool   `json:"succeeded"`
	Responses []struct {
		Range struct {
			Pairs []pair `json:"kvs"`
		} `json:"response_range"`
	} `json:"responses"`
}

// pairs are what the nth operation has read.
func (a txnAnswer) pairs(n int) []pair {
	if n >= len(a.Responses) {
		return nil
	}
	return a.Responses[n].Range.Pairs
}

type leaseID struct {
	ID  int64 `json:"ID,string"`
	TTL int64 `json:"TTL,omitempty,string"` // seconds; 0 in an answer: it has ended
}

// gateway speaks with one of the members of an etcd, and with the next one
// where that does not answer.
type gateway struct {
	client  *http.Client
	members []string // http://host:port
	at      atomic.Uint32
}

// refused is what etcd says to what it does not do.
type refused struct {
	status int
	text   string
}

func (r refused) Error() string { return fmt.Sprintf("etcd: status %d: %s", r.status, r.text) }

func newGateway(members []string) *gateway {
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	return &gateway{client: &http.Client{Transport: transport}, members: members}
}

// open sends one request; its answer is to be closed.
func (g *gateway) open(ctx context.Context, path string, question any) (io.ReadCloser, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	at := g.at.Load()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.members[int(at)%len(g.members)]+"/v3/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := g.client.Do(request)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) { // by us, that is not its fault
			g.at.CompareAndSwap(at, at+1)
		}
		return nil, fmt.Errorf("etcd: %w", err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	if answer.StatusCode >= http.StatusInternalServerError {
		g.at.CompareAndSwap(at, at+1)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	return nil, errors.Join(refused{answer.StatusCode, strings.TrimSpace(string(text))}, err, answer.Body.Close())
}

// ask sends a request and reads its answer, of which a stream sends one.
func (g *gateway) ask(ctx context.Context, path string, question, answer any) error {
	body, err := g.open(ctx, path, question)
	if err != nil {
		return err
	}
	if err = json.NewDecoder(body).Decode(answer); err != nil {
		return errors.Join(fmt.Errorf("etcd: %s: %w", path, err), body.Close())
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 4<<10)) // the connection is used again
	return body.Close()
}

// transact does one transaction.
func (g *gateway) transact(ctx context.Context, t txn) (a txnAnswer, err error) {
	return a, g.ask(ctx, "kv/txn", t, &a)
}

// grant makes a lease.
func (g *gateway) grant(ctx context.Context, seconds int64) (int64, error) {
	var a leaseID
	if err := g.ask(ctx, "lease/grant", leaseID{TTL: seconds}, &a); err != nil {
		return 0, err
	}
	if a.ID == 0 {
		return 0, fmt.Errorf("%w: a lease without an id", errAnswer)
	}
	return a.ID, nil
}

// keep renews a lease; false: it has ended.
func (g *gateway) keep(ctx context.Context, id int64) (bool, error) {
	var a struct {
		Result leaseID `json:"result"`
	}
	if err := g.ask(ctx, "lease/keepalive", leaseID{ID: id}, &a); err != nil {
		return false, err
	}
	return a.Result.TTL > 0, nil
}

// revoke ends a lease.
func (g *gateway) revoke(ctx context.Context, id int64) error {
	var a struct{}
	err := g.ask(ctx, "lease/revoke", leaseID{ID: id}, &a)
	if gone(err) {
		return nil
	}
	return err
}

// gone says whether an error is that a lease is not there.
func gone(err error) bool {
	var r refused
	return errors.As(err, &r) && r.status == http.StatusNotFound
}

// watch calls each with every change of a range, and once it hears of them.
func (g *gateway) watch(ctx context.Context, of keyRange, each func()) error {
	body, err := g.open(ctx, "watch", map[string]keyRange{"create_request": of})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	for stream := json.NewDecoder(body); ; {
		var a struct {
			Result *struct {
				Canceled bool `json:"canceled"`
			} `json:"result"`
		}
		if err = stream.Decode(&a); err != nil {
			return fmt.Errorf("etcd: watch: %w", err)
		}
		if a.Result == nil || a.Result.Canceled {
			return fmt.Errorf("%w: a watch that has ended", errAnswer)
		}
		each()
	}
}
