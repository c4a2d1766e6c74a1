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
	defaultCheckInterval = 15 * time.Second
	checkTimeout         = time.Minute
	emailRunTimeout      = 5 * time.Minute
)

// Alerts is the actor that evaluates the alert rules of all workspaces. Its only own state is the set of workspaces that
// have rules, alerts or unsent emails. Everything else is in the store.
type Alerts struct {
	cfg              Config
	activeWorkspaces map[string]bool // workspaces with alert rules, alerts or unsent emails; nil: not read yet
	hasEmails        bool

	checkRunning, checkAgain bool // a check is in progress; another one follows it
	emailRunning             bool
	generation               int
	cancelTimer              func()
}

// New returns an Alerts actor. If cfg.CheckInterval is 0, the actor checks at the default interval.
func New(cfg Config) *Alerts {
	if cfg.CheckInterval == 0 {
		cfg.CheckInterval = defaultCheckInterval
	}
	return &Alerts{cfg: cfg}
}

// Receive implements actor.Actor.
func (a *Alerts) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.startCheck(ctx)
	case *actor.Stopping, *actor.Restarting:
		a.stopTimer()
	case RuleChanged:
		if a.activeWorkspaces != nil {
			a.activeWorkspaces[m.Workspace] = true
		}
		a.startCheck(ctx)
	case checkDue:
		if m.generation == a.generation {
			a.startCheck(ctx)
		}
	case checkDone:
		a.onCheckDone(ctx, m)
	case emailsDone:
		a.onEmailsDone(m)
	}
}

// startCheck starts a check of all rules. If a check is in progress, startCheck makes another check follow it.
func (a *Alerts) startCheck(ctx actor.Context) {
	if a.checkRunning {
		a.checkAgain = true
		return
	}
	a.stopTimer()
	a.checkRunning, a.checkAgain = true, false
	r := ruleCheck{cfg: &a.cfg, activeWorkspaces: maps.Clone(a.activeWorkspaces)} // a copy: the actor changes its map meanwhile
	mailbox.RunTask(ctx, checkTimeout, func(bound context.Context) any {
		var m checkDone
		m.err = recoverPanic(a.cfg.Log, func() (err error) {
			m.activeWorkspaces, m.hasEmails, err = r.run(bound, time.Now().UTC())
			return err
		})
		return m
	})
}

// recoverPanic calls f and converts a panic in f into an error. The task can thus always report its end to the actor.
func recoverPanic(log *slog.Logger, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("alert task panicked", slog.Any("reason", v), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}

func (a *Alerts) onCheckDone(ctx actor.Context, m checkDone) {
	a.checkRunning = false
	if m.err != nil {
		a.cfg.Log.Warn("alert rules could not be checked; trying again", slog.Any("error", m.err))
	} else {
		if a.checkAgain && a.activeWorkspaces != nil { // rules may have changed in other workspaces meanwhile
			for id := range a.activeWorkspaces {
				m.activeWorkspaces[id] = true
			}
		} else if a.checkAgain {
			m.activeWorkspaces = nil
		}
		a.activeWorkspaces, a.hasEmails = m.activeWorkspaces, m.hasEmails
	}
	if a.hasEmails && !a.emailRunning {
		a.sendEmails(ctx)
	}
	if a.checkAgain && m.err == nil {
		a.startCheck(ctx)
		return
	}
	a.startTimer(ctx)
}

// sendEmails sends the emails that are due and deletes expired ones. It runs beside the checks, so that a hanging
// mail server delays only emails.
func (a *Alerts) sendEmails(ctx actor.Context) {
	a.emailRunning = true
	p := emailRun{cfg: &a.cfg, workspaces: make([]string, 0, len(a.activeWorkspaces))}
	for id := range a.activeWorkspaces {
		p.workspaces = append(p.workspaces, id)
	}
	mailbox.RunTask(ctx, emailRunTimeout, func(bound context.Context) any {
		return emailsDone{recoverPanic(a.cfg.Log, func() error { return p.run(bound, time.Now) })}
	})
}

func (a *Alerts) onEmailsDone(m emailsDone) {
	a.emailRunning = false
	if m.err != nil {
		a.cfg.Log.Warn("alert emails could not be sent; trying again", slog.Any("error", m.err))
	}
}

func (a *Alerts) startTimer(ctx actor.Context) {
	a.stopTimer()
	a.cancelTimer = mailbox.SendAfter(ctx, a.cfg.CheckInterval, checkDue{a.generation})
}

func (a *Alerts) stopTimer() {
	a.generation++
	if a.cancelTimer != nil {
		a.cancelTimer()
		a.cancelTimer = nil
	}
}
