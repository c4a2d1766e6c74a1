package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/engines/pdf"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
	"github.com/callboard/callboard/sip/transport"
)

// seat is the work of one shard, of which a process may have several: its
// store, its tree and its front door. A process that is alone has one, of
// everything. What a seat keeps in memory ends with it, so that a shard that
// comes back later is read anew.
type seat struct {
	*service
	shard  int
	token  lease.Token // "": the process is alone
	vault  *vault
	shared sharedBlobs // where recordings lie; nil: in the data folder
	node   *actors.Node
	http   *httpapi.Server
	door   net.Listener // of clients, or of what nodes pass on
	first  *actors.First
	gone   chan error      // a listener has ended
	life   context.Context //nolint:containedctx // ends with the seat
	end    context.CancelFunc

	drainEnds time.Time    // what is under way then is cut off; zero: nothing drains
	falling   atomic.Bool  // it takes no calls any more, and is to be given back
	moving    atomic.Int64 // since when requests wait for the next node, in nanoseconds since 1970; 0: they do not
	leaving   atomic.Bool  // it is being given back
	over      sync.Once    // it has ended
	inHaste   bool         // another node has the work: what is under way cannot be kept
	handsOver bool         // another node is to go on with the calls that live
}

// sit takes a shard up. On an error nothing of it is left but what the process
// has once.
func (s *service) sit(ctx context.Context, t *seat) (err error) {
	t.service, t.gone = s, make(chan error, 8)
	if t.token == "" {
		t.gone = s.ended
	}
	t.life, t.end = context.WithCancel(s.run)
	defer func() {
		if err != nil {
			t.leave()
		}
	}()
	defer context.AfterFunc(ctx, t.end)() // another node has the shard meanwhile: what has begun ends
	if t.token != "" {                    // who comes from now on waits for the seat
		t.door = t.member.doors.Lend(t.shard)
	}
	if err = t.openStore(ctx); err != nil {
		return err
	}
	if t.shard == 0 {
		if err = t.bootstrap(ctx); err != nil {
			return err
		}
	}
	if err = t.readQuarantine(ctx); err != nil {
		return err
	}
	if err = t.listen(ctx); err != nil {
		return err
	}
	if err = t.once(func() error { return s.build(t.vault.store.Root()) }); err != nil {
		return err
	}
	if err = t.tree(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.seats = append(s.seats, t)
	s.mu.Unlock()
	s.board.Add(t.node)
	if err = t.once(s.open); err != nil {
		return err
	}
	if !t.quarantined { // the bucket may be that of another service
		go t.sweepUploads(t.life)
	}
	return t.serve()
}

// once does what the first seat does for all of the process.
func (t *seat) once(do func() error) error {
	t.building.Lock()
	defer t.building.Unlock()
	return do()
}

// may says, each time it is asked, whether the node still has the shard; nil: it
// always has.
func (t *seat) may() func() bool {
	if t.token == "" {
		return nil
	}
	if _, looks := fence(""); !looks {
		return nil
	}
	return func() bool { return t.member.may(t.shard) }
}

// mine says which workspaces are of the shard; nil: all are.
func (t *seat) mine() func(string) bool {
	if t.token == "" || t.cfg.Shards < 2 {
		return nil
	}
	return func(workspace string) bool { return domain.ShardOf(workspace, t.cfg.Shards) == t.shard }
}

// tells lets the node hear where a commit was refused because another one has
// the shard.
func (t *seat) tells(of actors.Store) actors.Store {
	if t.token == "" {
		return of
	}
	return &fenced{of, func() { t.member.holder.Lost(t.shard, t.token) }}
}

type fenced struct {
	actors.Store
	lost func()
}

// Apply is the store's.
func (f *fenced) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	events, err := f.Store.Apply(ctx, c)
	if errors.Is(err, domain.ErrFenced) && !errors.Is(err, persistence.ErrElsewhere) {
		f.lost()
	}
	return events, err
}

func (t *seat) openStore(ctx context.Context) (err error) {
	if t.token == "" {
		return t.more.wait.until(ctx, func() (err error) {
			t.vault, err = openVault(ctx, t.cfg, t.log, t.fail)
			return err
		})
	}
	err = t.once(func() (err error) {
		if t.driver == nil {
			t.driver, err = openDriver(ctx, t.cfg, t.log)
		}
		return err
	})
	if err != nil {
		return err
	}
	token, _ := fence(string(t.token))
	t.vault, err = openStore(ctx, t.cfg, t.driver, t.member.master, token, t.shard)
	return err
}

// bootstrap fills an empty store.
func (t *seat) bootstrap(ctx context.Context) (err error) {
	t.first, err = actors.Bootstrap(ctx, t.vault.store, t.vault.keys, domain.Plan(t.cfg.DefaultPlan), defaultLimits(t.cfg), t.cfg.Simulator, t.mine())
	if err != nil || t.first == nil {
		return err
	}
	return keepFirst(t.cfg.Data, t.first)
}

// readQuarantine says in the log where the store was restored and nothing leaves the service.
func (t *seat) readQuarantine(ctx context.Context) error {
	q, err := actors.StoreQuarantine(ctx, t.vault.store)
	if err != nil || q == nil {
		return err
	}
	t.quarantined = true
	t.log.Warn("the store was restored from a backup and is in quarantine: nothing leaves the service until callboard release",
		slog.Time("backup_at", q.BackupAt), slog.Time("restored_at", q.RestoredAt))
	return nil
}

// restart has the process close everything and start anew.
func (s *service) restart() {
	select {
	case s.released <- struct{}{}:
	default:
	}
}

func defaultLimits(cfg *configs.Config) domain.Limits {
	limits, fixed := domain.PlanLimits(domain.Plan(cfg.DefaultPlan))
	if !fixed {
		limits = domain.RoomyLimits()
	}
	for _, l := range []struct{ set, to *int }{
		{&cfg.DefaultLimits.RequestsPerMinute, &limits.RequestsPerMinute},
		{&cfg.DefaultLimits.ConcurrentInbound, &limits.ConcurrentInbound},
		{&cfg.DefaultLimits.ConcurrentOutbound, &limits.ConcurrentOutbound},
		{&cfg.DefaultLimits.CallsPerMinute, &limits.CallsPerMinute},
	} {
		if *l.set > 0 {
			*l.to = *l.set
		}
	}
	return limits
}

// keepFirst keeps the keys of the first start where only the operator reads.
func keepFirst(data string, f *actors.First) error {
	return errors.Join(
		writeSecret(filepath.Join(data, "admin.key"), f.AdminKey+"\n"),
		writeSecret(filepath.Join(data, "test.key"), f.TestKey+"\n"),
	)
}

// listen opens the doors; nobody is answered yet.
func (t *seat) listen(ctx context.Context) error {
	if t.token != "" {
		return nil
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", t.cfg.HTTPAddr.String())
	if err != nil {
		return fmt.Errorf("http_addr: %w", err)
	}
	t.door = ln
	t.front = netip.MustParseAddrPort(ln.Addr().String())
	return nil
}

// answer begins to take requests: of clients, or what nodes pass on.
func (t *seat) answer() {
	serve := t.http.ServeNodes
	if t.token == "" {
		serve = t.http.Serve
	}
	go func() { t.gone <- serve(t.door) }()
}

// tree grows the actors.
func (t *seat) tree(ctx context.Context) error {
	blobs, err := t.openBlobs(ctx, t.roots)
	if err != nil {
		return err
	}
	target := func() (resolve.Target, bool) { return resolve.Target{}, false }
	var calledBy func() netip.AddrPort
	var testCall func(context.Context, testcarrier.Order) error
	var talk actors.Talk
	if t.phones != nil {
		target = func() (resolve.Target, bool) { return t.phones.Target(), true }
		calledBy = t.phones.Addr
		testCall, talk = t.testCall, t.talk
	}
	trunks := t.egress()
	trunks.AnyPort = true
	answers, hurry := hurried()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	t.node = actors.New(actors.Config{
		Store: t.meters.Store(t.spans.store(t.tells(tamper(t.vault.store)))), May: t.may(), Survive: t.cfg.SurviveCalls, Quarantined: t.quarantined, Released: t.restart, TookUp: t.takenUp.add, Mine: t.mine(), Board: &t.board, Keys: t.vault.keys, Blobs: blobs, SIP: t.ua, Media: t.engine, Places: t.room,
		Speaker: t.speaker, Ears: t.ears, Models: t.models, Lives: t.with.lives(), Papers: pdf.New(program, "read-pdf"),
		Simulator: target, Carrier: calledBy, TestCall: testCall, Talk: talk, Egress: t.egress(), RootCAs: t.roots, WebhookSends: t.cfg.WebhookSends, WebhookTimeout: answers, WebhookHurry: hurry,
		MayReach: func(to netip.AddrPort) bool { return trunks.May(to) == nil }, SIPURI: sipURI(t.cfg),
		PublicURL: t.cfg.BaseURL(t.front), SpoolDir: t.folder(spoolDir), TraceContexts: t.spans.contexts(), Traces: t.traces, Log: t.log, Mail: t.mail, Rest: t.lookElsewhere,
	})
	return nil
}

// serve starts the API and the tree.
func (t *seat) serve() error {
	d := t.node.Desk()
	var certificate func() (*tls.Certificate, error)
	if t.cfg.TLSCert != "" {
		certificate = transport.CertificateFiles(t.cfg.TLSCert, t.cfg.TLSKey, t.log)
	}
	t.http = httpapi.New(httpapi.Config{
		Log: t.log, PublicURL: t.cfg.BaseURL(t.front), TrustedProxies: t.cfg.TrustedProxies,
		Certificate: certificate, Version: version, Ears: t.ears != nil, Text: t.ears != nil && t.ears.Transcribes("en-US"), Observe: t.meters.Request,
		Elsewhere: t.elsewhere(), Nodes: t.places(), Moves: t.moves,
	}, portsOf(d))
	if t.token == "" {
		t.answer()
	}
	err := t.node.Start(t.life)
	if err == nil && t.token != "" {
		t.answer() // until now requests wait
	}
	return err
}

// movesFor is how long requests wait for another node when a seat begins to be
// given back: most are by then. A seat that waits for calls which cannot be handed
// over takes longer: after that time it answers them itself, except those that
// begin a call.
const movesFor = 3 * time.Second

// awaitNext has requests that would begin something wait for the next node from
// now on.
func (t *seat) awaitNext() { t.moving.Store(time.Now().UnixNano()) }

// moves says whether requests wait for the next node.
func (t *seat) moves() bool {
	at := t.moving.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < movesFor
}

// drain takes no new calls and lets the live ones end within the limit.
func (t *seat) drain(ctx context.Context) {
	t.drainEnds = time.Now().Add(t.cfg.Drain)
	ctx, cancel := context.WithDeadline(ctx, t.drainEnds)
	defer cancel()
	if t.token == "" {
		t.node.Drain(ctx)
		return
	}
	t.handsOver = t.node.DrainTo(ctx, t.member.heirs)
	t.awaitNext()
	t.node.RefuseWrites()
}

// handOver lets go of the calls that another node goes on with: last of all, for
// their far ends hear nothing until it does.
func (t *seat) handOver() {
	if !t.handsOver || t.inHaste {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handLimit)
	defer cancel()
	t.node.HandOver(ctx)
}

// handLimit is how long calls that have just become such that nobody else can go
// on with them hold up those of others.
const handLimit = 3 * time.Second

// leave ends the seat, in the reverse order of its start; once.
func (t *seat) leave() { t.over.Do(t.vacate) }

func (t *seat) vacate() {
	t.shutDoors()
	t.handOver()
	if t.node != nil {
		t.board.Remove(t.node)
		t.node.Stop()
	}
	t.end()
	t.mu.Lock()
	t.seats = slices.DeleteFunc(t.seats, func(x *seat) bool { return x == t })
	t.mu.Unlock()
	if t.vault != nil {
		t.vault.close()
	}
}

// shutDoors takes no request any more and lets those under way finish.
func (t *seat) shutDoors() {
	if t.http != nil {
		limit := max(shutdownLeast, time.Until(t.drainEnds))
		if t.inHaste {
			limit = 0
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		_ = t.http.Shutdown(ctx)
		cancel()
	}
	if t.door == nil {
		return
	}
	_ = t.door.Close() // the server has closed it, unless it never served
	if lent, ok := t.door.(*forward.Lent); ok {
		lent.Sever()
	}
}
