package alerts

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

const (
	lookEvery = 15 * time.Second
	lookLimit = time.Minute
	postLimit = 5 * time.Minute
)

// Alerts is the actor that evaluates the alert rules of all workspaces. It remembers only which workspaces have
// rules, alerts or unsent emails; everything else is in the store.
type Alerts struct {
	cfg   Config
	known map[string]bool // workspaces with alert rules, alerts or unsent emails; nil: not read yet
	mails bool

	looking, again bool // a check is in progress; another one follows it
	posting        bool
	generation     int
	cancel         func()
}

// New returns the actor.
func New(cfg Config) *Alerts {
	if cfg.CheckInterval == 0 {
		cfg.CheckInterval = lookEvery
	}
	return &Alerts{cfg: cfg}
}

// Receive implements actor.Actor.
func (a *Alerts) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.startCheck(ctx)
	case *actor.Stopping, *actor.Restarting:
		a.rest()
	case RuleChanged:
		if a.known != nil {
			a.known[m.Workspace] = true
		}
		a.startCheck(ctx)
	case tick:
		if m.generation == a.generation {
			a.startCheck(ctx)
		}
	case looked:
		a.onChecked(ctx, m)
	case posted:
		a.posted(m)
	}
}

// startCheck starts a check of all rules. If a check is in progress, another one follows it.
func (a *Alerts) startCheck(ctx actor.Context) {
	if a.looking {
		a.again = true
		return
	}
	a.rest()
	a.looking, a.again = true, false
	r := round{cfg: &a.cfg, known: maps.Clone(a.known)} // a copy: the actor changes its map meanwhile
	mailbox.RunTask(ctx, lookLimit, func(bound context.Context) any {
		var m looked
		m.err = caught(a.cfg.Log, func() (err error) {
			m.known, m.mails, err = r.run(bound, time.Now().UTC())
			return err
		})
		return m
	})
}

// recoverPanic calls f and returns a panic as an error, so that the actor always learns that its task is over.
func caught(log *slog.Logger, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("the actor of alerts has panicked", slog.Any("reason", v), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}

func (a *Alerts) onChecked(ctx actor.Context, m looked) {
	a.looking = false
	if m.err != nil {
		a.cfg.Log.Warn("alerts could not be looked for; trying again", slog.Any("error", m.err))
	} else {
		if a.again && a.known != nil { // rules may have changed in other workspaces meanwhile
			for id := range a.known {
				m.known[id] = true
			}
		} else if a.again {
			m.known = nil
		}
		a.known, a.mails = m.known, m.mails
	}
	if a.mails && !a.posting {
		a.post(ctx)
	}
	if a.again && m.err == nil {
		a.startCheck(ctx)
		return
	}
	a.sleep(ctx)
}

// sendEmails sends the emails that are due and deletes expired ones. It runs beside the checks, so that a hanging
// mail server delays only emails.
func (a *Alerts) post(ctx actor.Context) {
	a.posting = true
	p := post{cfg: &a.cfg, known: make([]string, 0, len(a.known))}
	for id := range a.known {
		p.known = append(p.known, id)
	}
	mailbox.RunTask(ctx, postLimit, func(bound context.Context) any {
		return posted{caught(a.cfg.Log, func() error { return p.run(bound, time.Now) })}
	})
}

func (a *Alerts) posted(m posted) {
	a.posting = false
	if m.err != nil {
		a.cfg.Log.Warn("mails of alerts could not be looked for; trying again", slog.Any("error", m.err))
	}
}

func (a *Alerts) sleep(ctx actor.Context) {
	a.rest()
	a.cancel = mailbox.SendAfter(ctx, a.cfg.CheckInterval, tick{a.generation})
}

func (a *Alerts) rest() {
	a.generation++
	if a.cancel != nil {
		a.cancel()
		a.cancel = nil
	}
}
