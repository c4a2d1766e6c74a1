package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/cmd/callboard/setup"
	"github.com/callboard/callboard/cmd/callboard/systemd"
	"github.com/callboard/callboard/configs"
)

// settingsFlags gives a command the flags of the settings.
func settingsFlags(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "YAML file with settings")
	cmd.Flags().String("env-file", "", "file with variables of the environment, as callboard init writes it; those that are set win")
	for _, s := range configs.Settings() {
		if s.Flag == "" {
			continue
		}
		if s.Default == "true" || s.Default == "false" {
			cmd.Flags().Bool(s.Flag, s.Default == "true", s.Doc)
			continue
		}
		cmd.Flags().String(s.Flag, s.Default, s.Doc)
	}
}

// settingsSource is where a command's settings come from, so that a service can
// read them again.
type settingsSource struct {
	file    string // YAML; "": none
	envFile string // "": none
	environ []string
	flags   map[string]string
}

func sourceOf(cmd *cobra.Command) (s settingsSource, err error) {
	s = settingsSource{environ: os.Environ(), flags: make(map[string]string)}
	known := make(map[string]bool)
	for _, setting := range configs.Settings() {
		known[setting.Flag] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if known[f.Name] {
			s.flags[f.Name] = f.Value.String()
		}
	})
	if s.file, err = cmd.Flags().GetString("config"); err != nil {
		return s, err
	}
	s.envFile, err = cmd.Flags().GetString("env-file")
	return s, err
}

// load reads the settings. fromFile are the variables of the file of variables
// that the environment does not set.
func (s settingsSource) load() (cfg *configs.Config, fromFile []string, err error) {
	if s.envFile != "" {
		if fromFile, err = s.unset(); err != nil {
			return nil, nil, err
		}
	}
	cfg, err = configs.Load(s.file, slices.Concat(s.environ, fromFile), s.flags)
	return cfg, fromFile, err
}

// unset are the lines of the file of variables whose variable the environment
// does not set; the first line of several counts.
func (s settingsSource) unset() (out []string, err error) {
	lines, err := setup.ReadEnv(s.envFile)
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool)
	for _, line := range s.environ {
		name, _, _ := strings.Cut(line, "=")
		set[name] = true
	}
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, "="); !set[name] {
			set[name] = true
			out = append(out, line)
		}
	}
	return out, nil
}

// settings reads what the flags, the environment and the files say. Variables of
// the file are set for the process: keys of engines are read there.
func settings(cmd *cobra.Command) (*configs.Config, error) {
	s, err := sourceOf(cmd)
	if err != nil {
		return nil, err
	}
	return s.loadAndSet()
}

func (s settingsSource) loadAndSet() (*configs.Config, error) {
	cfg, fromFile, err := s.load()
	for _, line := range fromFile {
		name, value, _ := strings.Cut(line, "=")
		if failed := os.Setenv(name, value); failed != nil {
			return nil, fmt.Errorf("%s: %w", s.envFile, failed)
		}
	}
	return cfg, err
}

// serveCommand runs the service until SIGINT or SIGTERM; a second signal ends
// it at once. SIGHUP reloads what can be reloaded.
func serveCommand(again func()) *cobra.Command {
	demo := false
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			hangups := make(chan os.Signal, 1)
			signal.Notify(hangups, syscall.SIGHUP) // from here on it does not end the process
			defer signal.Stop(hangups)
			source, err := sourceOf(cmd)
			if err != nil {
				return err
			}
			cfg, err := source.loadAndSet()
			if err != nil {
				return err
			}
			log, level := levelledLogger(cfg)
			manager, err := systemd.New()
			if err != nil {
				log.Warn("the service manager is not told how the service does", slog.Any("error", err))
			}
			r := &reloader{source: source, cfg: cfg, level: level, log: log, manager: manager}
			defer r.on(hangups)()
			p := &process{cfg: cfg, log: log, manager: manager, wait: &startWait{cfg: cfg, log: log, manager: manager}, again: again}
			return p.serve(cmd.Context(), demo)
		},
	}
	settingsFlags(cmd)
	cmd.Flags().BoolVar(&demo, "demo", false, "play a demo campaign on the built-in phones once the service is up")
	return cmd
}

// process is a service that runs until it is told to end.
type process struct {
	cfg     *configs.Config
	log     *slog.Logger
	manager *systemd.Notifier
	wait    *startWait
	again   func() // from then on a second signal ends the process at once
}

func (p *process) serve(ctx context.Context, demo bool) error {
	shiftClock()
	if err := checkOwner(p.cfg.Data); err != nil { // before the demo writes there
		return err
	}
	if p.cfg.NodeAddr.IsValid() {
		if demo {
			return errors.New("--demo is for a service of one process: leave node_addr empty")
		}
		return p.serveAmong(ctx)
	}
	var show *demoShow
	var more extras
	if demo {
		var err error
		if show, err = newDemo(p.cfg); err != nil {
			return err
		}
		defer show.close()
		more = show.extras()
	}
	more.wait = p.wait
	for {
		released, err := p.serveAlone(ctx, more, show)
		if !released || err != nil {
			return err
		}
		show = nil // it has played
	}
}

// serveAlone runs the only process of a service until it is told to end, or until its restored store is released.
func (p *process) serveAlone(ctx context.Context, more extras, show *demoShow) (released bool, err error) {
	began := time.Now()
	s, err := start(ctx, p.cfg, p.log, more)
	if err != nil {
		return false, p.stoppedEarly(ctx, err)
	}
	p.log.LogAttrs(ctx, slog.LevelInfo, "ready", append(p.cfg.Attrs(),
		slog.Duration("after", time.Since(began).Round(time.Millisecond)), slog.String("http", s.front.String()),
		slog.String("version", version))...)
	one := s.all()[0]
	one.welcome()
	defer p.up(one.node.Pulse)()
	if show != nil {
		go show.play(ctx, s)
	}
	select {
	case <-ctx.Done():
	case <-s.released:
		s.close()
		return true, nil
	case err = <-s.ended:
		if err == nil {
			err = errors.New("a listener ended")
		}
		s.close()
		return false, err
	}
	p.stopping()
	one.drain(context.WithoutCancel(ctx))
	s.close()
	p.log.Info("stopped")
	return false, nil
}

// stoppedEarly is what becomes of a start that failed: nothing, where it was told
// to end.
func (p *process) stoppedEarly(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	p.log.Info("stopped before the start was complete")
	return nil
}

// stopping tells that the process ends once its calls have ended.
func (p *process) stopping() {
	p.again()
	p.manager.Stopping()
	p.log.Info("stopping: no new calls, live ones may end", slog.Duration("limit", p.cfg.Drain))
}

// up tells the service manager that the process has started, and from then on
// that it works, as long as alive is nil in time. It ends when stop is called.
func (p *process) up(alive func(context.Context) error) (stop func()) {
	p.manager.Ready()
	every := p.manager.WatchdogEvery()
	if every == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for silent := false; ; {
			bound, done := context.WithTimeout(ctx, every)
			err := alive(bound)
			done()
			if err == nil {
				p.manager.Watchdog()
			} else if !silent && ctx.Err() == nil {
				p.log.Error("the service does not answer itself: the service manager will restart it", slog.Any("error", err))
			}
			silent = err != nil
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return cancel
}

// welcome shows the first start's key, once, and only to a terminal.
func (t *seat) welcome() {
	if t.first == nil {
		return
	}
	path := filepath.Join(t.cfg.Data, "admin.key")
	if terminal() {
		fmt.Printf("\n  First start. The operator's API key, shown this once and kept in %s:\n\n    %s\n\n", path, t.first.AdminKey)
		return
	}
	t.log.Info("first start: the operator's API key is in a file", slog.String("path", path))
}
