// Package redis is the driver of the store for installs beyond one machine:
// one Lua script per commit on one Redis 7 with an append-only file. It knows
// no noun and no cluster; ownership is the token that each commit carries.
package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/callboard/callboard/persistence"
)

const (
	tag = "{cb}"
	// rememberFor is how long the answer of a commit is kept.
	rememberFor = 10 * time.Minute
	// pulse is how often Redis is asked whether it is there.
	pulse = time.Second
	// Commits that could not be given back are tried again triesLost times, with
	// each pulse, since another process may give back what they follow from, and
	// then every retryLost.
	triesLost = 8
	retryLost = 10 * time.Second
	// restoreLimit is how long a Redis that lacks commits may take to take them.
	restoreLimit = time.Minute
)

// Options are how a Redis is used. The zero value is right for a service.
type Options struct {
	Prefix string        // of every key; installs with different ones share a server
	Wait   time.Duration // how long a commit or a read may take; 0: 5 s
	Logger *slog.Logger  // nil: silent
	// Ledger is a folder in which each commit is kept beside Redis, so that a
	// Redis that lacks acknowledged ones can be given them again. "": such a one
	// is refused.
	Ledger string
	// AnyHistory takes a Redis as it is, whatever it lacks: after a fail-over to
	// a replica that had not seen everything, people are rung twice.
	AnyHistory bool
}

// Driver is a connection to a Redis.
type Driver struct {
	reader // for all shards that are known here

	client *redis.Client
	prefix string
	wait   time.Duration
	log    *slog.Logger

	queue   chan *request
	life    sync.RWMutex // commits enter shared, Close alone
	closed  bool
	stop    context.CancelFunc
	working sync.WaitGroup

	ledger     *ledger // nil: none
	anyHistory bool
	restoring  sync.Mutex
	woken      chan struct{} // room for one

	shards    sync.Mutex
	histories map[string]*history
	all       []*history // the same; replaced, never changed

	mu     sync.Mutex
	health error
}

var _ persistence.Driver = (*Driver)(nil)

// Open connects to the Redis of a URL (redis://[user:password@]host:port/db).
// It fails where none answers within Options.Wait or where the data have
// another format, and warns of settings under which commits can get lost.
func Open(ctx context.Context, url string, o Options) (*Driver, error) {
	settings, err := settingsOf(url, o.Wait)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Driver{
		client: redis.NewClient(settings), prefix: o.Prefix + tag, wait: settings.ReadTimeout, log: o.Logger,
		queue: make(chan *request, queueLength), anyHistory: o.AnyHistory,
		woken: make(chan struct{}, 1), histories: make(map[string]*history),
	}
	d.reader = reader{d: d, of: d.known}
	if o.Ledger != "" {
		var highest map[string]uint64
		if d.ledger, highest, err = openLedger(o.Ledger); err != nil {
			return nil, errors.Join(err, d.client.Close())
		}
		for shard, n := range highest {
			d.history(shard).reached(n)
		}
	}
	if err = d.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redis: open %s: %w", settings.Addr, err), d.client.Close())
	}
	var running context.Context
	running, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	for range workers {
		d.working.Go(d.work)
	}
	d.working.Go(func() { d.watch(running) })
	return d, nil
}

// settingsOf is how the Redis of a URL is connected to; wait as in Options.
func settingsOf(url string, wait time.Duration) (*redis.Options, error) {
	settings, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("redis: the URL is not redis://[user:password@]host:port/db") // err may hold the password
	}
	if wait <= 0 {
		wait = 5 * time.Second
	}
	settings.MaxRetries = -1 // a repeated script would report a conflict with itself; the commit id decides
	settings.ContextTimeoutEnabled = true
	settings.DialTimeout = min(wait, time.Second)
	settings.DialerRetries = 1
	settings.ReadTimeout, settings.WriteTimeout = wait, wait
	settings.PoolSize = 24
	settings.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return settings, nil
}

func (d *Driver) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	if err := d.client.SetNX(ctx, d.prefix+layoutKey, persistence.Layout, 0).Err(); err != nil {
		return err
	}
	if err := checkLayout(ctx, d.client, d.prefix); err != nil {
		return err
	}
	if err := d.load(ctx); err != nil {
		return err
	}
	d.inspect(ctx)
	return d.recall(ctx)
}

// layoutKey, behind the prefix, holds persistence.Layout.
const layoutKey = "format"

// checkLayout fails with redis.Nil where the Redis holds nothing yet.
func checkLayout(ctx context.Context, client *redis.Client, prefix string) error {
	have, err := client.Get(ctx, prefix+layoutKey).Result()
	if err != nil {
		return err
	}
	return persistence.CheckLayout("the Redis", have)
}

// load makes the scripts known.
func (d *Driver) load(ctx context.Context) error {
	for _, s := range []*redis.Script{commitScript, claimScript, claimAllScript, scanScript, eventsScript} {
		if err := s.Load(ctx, d.client).Err(); err != nil {
			return err
		}
	}
	return nil
}

// recall compares Redis with the ledger of an earlier process.
func (d *Driver) recall(ctx context.Context) error {
	if d.ledger != nil {
		install := rand.Text()
		if d.ledger.install != "" {
			install = d.ledger.install // a Redis that has lost even that is given everything again
		}
		if err := d.client.SetNX(ctx, d.prefix+"i", install, 0).Err(); err != nil {
			return err
		}
		install, err := d.client.Get(ctx, d.prefix+"i").Result()
		if err != nil {
			return err
		}
		if err = d.ledger.openFile(install); err != nil {
			return err
		}
	}
	// A shard that cannot be given back is refused to who wants it; who opens may
	// want others.
	if err := d.restore(ctx); !errors.Is(err, errLost) {
		return err
	}
	return nil
}

// inspect warns of settings that lose commits.
func (d *Driver) inspect(ctx context.Context) {
	for _, want := range []struct{ name, value, risk string }{
		{"appendonly", "yes", "a restart of Redis loses commits"},
		{"appendfsync", "always", "a power cut loses the commits of the last second"},
		{"maxmemory-policy", "noeviction", "Redis may drop rows when memory is short"},
	} {
		have, err := d.client.ConfigGet(ctx, want.name).Result()
		if err != nil {
			d.log.Warn("redis does not tell its settings", slog.String("setting", want.name), slog.Any("error", err))
			return
		}
		if have[want.name] != want.value {
			d.log.Warn("redis setting risks data", slog.String("setting", want.name), slog.String("value", have[want.name]),
				slog.String("wanted", want.value), slog.String("risk", want.risk))
		}
	}
}

// watch keeps the health up to date while nobody commits.
func (d *Driver) watch(ctx context.Context) {
	t := time.NewTicker(pulse)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-d.woken:
		}
		long, cancel := context.WithTimeout(ctx, restoreLimit)
		err := d.restore(long)
		cancel()
		if errors.Is(err, errLost) {
			err = nil // of some shards, which say it themselves
		}
		if ctx.Err() == nil {
			d.setHealth(err)
		}
	}
}

// setHealthIf notes an error and keeps what was known where there is none.
func (d *Driver) setHealthIf(err error) {
	if err != nil {
		d.setHealth(err)
	}
}

func (d *Driver) setHealth(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.health
	if err == nil {
		if d.health = nil; was != nil {
			d.log.Info("redis is back")
		}
		return
	}
	d.health = fmt.Errorf("%w: redis: %w", persistence.ErrUnavailable, err) // as it is now: what it began with may be over
	if was == nil {
		d.log.Error("redis is away", slog.Any("error", err))
	}
}

// Healthy is nil while commits can be expected to succeed; it lags by at most
// two seconds.
func (d *Driver) Healthy() error {
	return d.healthy(d.known()...)
}

func (d *Driver) healthy(of ...*history) error {
	d.mu.Lock()
	err := d.health
	d.mu.Unlock()
	for _, h := range of {
		if err == nil {
			err = away(h.err())
		}
	}
	return err
}

// Close finishes the commits under way and disconnects.
func (d *Driver) Close() error {
	d.life.Lock()
	if d.closed {
		d.life.Unlock()
		return nil
	}
	d.closed = true
	close(d.queue)
	d.life.Unlock()
	d.stop()
	d.working.Wait()
	if d.ledger != nil {
		return errors.Join(d.ledger.close(), d.client.Close())
	}
	return d.client.Close()
}

// away wraps what Redis or the way to it reports.
func away(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: redis: %w", persistence.ErrUnavailable, err)
}
