// Package redis is the driver of the store for installations with several machines.
//
// Each commit is one Lua script on one Redis 7 with an append-only file. Ownership of a shard is the token that
// each commit carries.
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
	// resultTTL is how long the result of a commit is stored.
	resultTTL = 10 * time.Minute
	// healthInterval is the time between two checks of Redis.
	healthInterval = time.Second
	// The health check retries commits that could not be restored maxQuickRetries times, because another process may
	// restore the commits that they depend on. After that, it retries every slowRetryInterval.
	maxQuickRetries   = 8
	slowRetryInterval = 10 * time.Second
	// restoreTimeout bounds the time for restoring commits to Redis.
	restoreTimeout = time.Minute
)

// Options configure the connection to Redis. The zero value is right for production use.
type Options struct {
	Prefix string        // prefix of every key; installations with different prefixes can share a server
	Wait   time.Duration // maximum duration of a commit or read. Default: 5 s
	Logger *slog.Logger  // Default: no log
	// Ledger is a folder in which the driver records each commit, so that it can restore commits that Redis has lost.
	// If it is "", the driver refuses a Redis that lacks acknowledged commits.
	Ledger string
	// AnyHistory accepts a Redis that lacks acknowledged commits. After a fail-over to such a replica, the contacts of
	// a campaign may be called twice.
	AnyHistory bool
}

// Driver is a connection to a Redis server that stores the data of the installation.
type Driver struct {
	reader // its reads require the commits of all shards known to this process

	client *redis.Client
	prefix string
	wait   time.Duration
	log    *slog.Logger

	queue     chan *request
	lifecycle sync.RWMutex // held shared by commits, exclusively by Close
	closed    bool
	stop      context.CancelFunc
	working   sync.WaitGroup

	ledger      *ledger // nil: no ledger
	anyHistory  bool
	restoreLock sync.Mutex
	wakeRestore chan struct{} // buffered, capacity 1

	historiesLock sync.Mutex
	histories     map[string]*history
	historyList   []*history // the histories as a slice, which is replaced and never changed

	mu     sync.Mutex
	health error
}

var _ persistence.Driver = (*Driver)(nil)

// Open connects to the Redis at a URL (redis://[user:password@]host:port/db). It fails if Redis does not answer
// within Options.Wait or if the data have another format. It warns of Redis settings that can lose commits.
func Open(ctx context.Context, url string, o Options) (*Driver, error) {
	settings, err := connectionOptions(url, o.Wait)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Driver{
		client: redis.NewClient(settings), prefix: o.Prefix + tag, wait: settings.ReadTimeout, log: o.Logger,
		queue: make(chan *request, queueLength), anyHistory: o.AnyHistory,
		wakeRestore: make(chan struct{}, 1), histories: make(map[string]*history),
	}
	d.reader = reader{d: d, of: d.allHistories}
	if o.Ledger != "" {
		var highest map[string]uint64
		if d.ledger, highest, err = openLedger(o.Ledger); err != nil {
			return nil, errors.Join(err, d.client.Close())
		}
		for shard, n := range highest {
			d.history(shard).recordAcknowledged(n)
		}
	}
	if err = d.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redis: open %s: %w", settings.Addr, err), d.client.Close())
	}
	var running context.Context
	running, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	for range workers {
		d.working.Go(d.commitLoop)
	}
	d.working.Go(func() { d.monitorHealth(running) })
	return d, nil
}

// connectionOptions parses a Redis URL. The returned timeouts depend on wait, which is Options.Wait.
func connectionOptions(url string, wait time.Duration) (*redis.Options, error) {
	settings, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("redis: the URL is not redis://[user:password@]host:port/db") // err may contain the password
	}
	if wait <= 0 {
		wait = 5 * time.Second
	}
	settings.MaxRetries = -1 // a repeated script would conflict with itself; retries use the commit id
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
	d.checkServerSettings(ctx)
	return d.openLedger(ctx)
}

// layoutKey, after the key prefix, is the Redis key that stores persistence.Layout.
const layoutKey = "format"

// checkLayout returns an error if the stored layout differs from persistence.Layout, and redis.Nil if the database is
// empty.
func checkLayout(ctx context.Context, client *redis.Client, prefix string) error {
	have, err := client.Get(ctx, prefix+layoutKey).Result()
	if err != nil {
		return err
	}
	return persistence.CheckLayout("the Redis", have)
}

// load loads the Lua scripts into Redis.
func (d *Driver) load(ctx context.Context) error {
	for _, s := range []*redis.Script{commitScript, claimScript, claimAllScript, scanScript, eventsScript} {
		if err := s.Load(ctx, d.client).Err(); err != nil {
			return err
		}
	}
	return nil
}

// openLedger opens the ledger and restores to Redis the acknowledged commits that Redis lacks.
func (d *Driver) openLedger(ctx context.Context) error {
	if d.ledger != nil {
		install := rand.Text()
		if d.ledger.installID != "" {
			install = d.ledger.installID // a Redis that has lost the installation id gets all commits of the ledger
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
	// Opening the driver succeeds even if the commits of a shard cannot be restored, because the process may use other
	// shards. Commits and reads of that shard return an error.
	if err := d.restore(ctx); !errors.Is(err, errLost) {
		return err
	}
	return nil
}

// checkServerSettings logs a warning for each Redis setting that can lose commits.
func (d *Driver) checkServerSettings(ctx context.Context) {
	for _, want := range []struct{ name, value, risk string }{
		{"appendonly", "yes", "a restart of Redis loses commits"},
		{"appendfsync", "always", "a power cut loses the commits of the last second"},
		{"maxmemory-policy", "noeviction", "Redis may drop rows when memory is short"},
	} {
		have, err := d.client.ConfigGet(ctx, want.name).Result()
		if err != nil {
			d.log.Warn("the settings of redis cannot be read", slog.String("setting", want.name), slog.Any("error", err))
			return
		}
		if have[want.name] != want.value {
			d.log.Warn("a redis setting can lose data", slog.String("setting", want.name), slog.String("value", have[want.name]),
				slog.String("wanted", want.value), slog.String("risk", want.risk))
		}
	}
}

// monitorHealth checks Redis every healthInterval, restores commits that Redis lacks and records the result as the
// driver's health.
func (d *Driver) monitorHealth(ctx context.Context) {
	t := time.NewTicker(healthInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-d.wakeRestore:
		}
		long, cancel := context.WithTimeout(ctx, restoreTimeout)
		err := d.restore(long)
		cancel()
		if errors.Is(err, errLost) {
			err = nil // commits and reads of the affected shards return this error
		}
		if ctx.Err() == nil {
			d.setHealth(err)
		}
	}
}

// setHealthIf records a non-nil error as the driver's health.
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
			d.log.Info("redis is available again")
		}
		return
	}
	d.health = fmt.Errorf("%w: redis: %w", persistence.ErrUnavailable, err) // the current cause, which may differ from the first one
	if was == nil {
		d.log.Error("redis is unavailable", slog.Any("error", err))
	}
}

// Healthy returns nil while commits can be expected to succeed. Its result is at most two seconds old.
func (d *Driver) Healthy() error {
	return d.healthy(d.allHistories()...)
}

func (d *Driver) healthy(of ...*history) error {
	d.mu.Lock()
	err := d.health
	d.mu.Unlock()
	for _, h := range of {
		if err == nil {
			err = unavailableError(h.err())
		}
	}
	return err
}

// Close waits for the commits under way and disconnects from Redis.
func (d *Driver) Close() error {
	d.lifecycle.Lock()
	if d.closed {
		d.lifecycle.Unlock()
		return nil
	}
	d.closed = true
	close(d.queue)
	d.lifecycle.Unlock()
	d.stop()
	d.working.Wait()
	if d.ledger != nil {
		return errors.Join(d.ledger.close(), d.client.Close())
	}
	return d.client.Close()
}

// unavailableError wraps an error of Redis or of the connection.
func unavailableError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: redis: %w", persistence.ErrUnavailable, err)
}
