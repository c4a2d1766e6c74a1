package campaign

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// Maximum numbers of API requests of each kind that may wait for a commit.
const (
	maxOperations     = 64
	maxContactChanges = 1000
)

// apiRequests are the API requests that wait for a commit or for the first read of the store. Each request gets one reply.
type apiRequests struct {
	operations     []operation
	contactChanges []contactChange
	status         []*actor.PID
}

// isEmpty reports whether no API request is waiting.
func (r *apiRequests) isEmpty() bool {
	return len(r.operations) == 0 && len(r.contactChanges) == 0 && len(r.status) == 0
}

// refuse replies to all waiting requests with an error and removes them.
func (r *apiRequests) refuse(ctx actor.Context, err *domain.Error) {
	for _, op := range r.operations {
		op.reply(ctx, err)
	}
	for _, sender := range r.status {
		ctx.Send(sender, err)
	}
	for _, c := range r.contactChanges {
		c.replyTo(ctx, err)
	}
	r.operations, r.status, r.contactChanges = nil, nil, nil
}

// answerStatus replies to the waiting status requests.
func (r *apiRequests) answerStatus(ctx actor.Context, object domain.CampaignStatusObject) {
	for _, sender := range r.status {
		ctx.Send(sender, object)
	}
	r.status = nil
}

// takeStops removes and returns the operations that stop the campaign. The store accepts these even when it is full.
func (r *apiRequests) takeStops() (stops []operation) {
	for _, op := range r.operations {
		if op.isStop() {
			stops = append(stops, op)
		}
	}
	r.operations = slices.DeleteFunc(r.operations, operation.isStop)
	return stops
}

// queueOwn queues a status change that the campaign itself requests. It does nothing if the same one is already queued or
// being committed.
func (r *apiRequests) queueOwn(on lifecycle.Operation, reason string, inFlight *batch) {
	same := func(op operation) bool { return op.on == on && op.sender == nil }
	if !slices.ContainsFunc(r.operations, same) && (inFlight == nil || inFlight.operation == nil || !same(*inFlight.operation)) {
		r.operations = append(r.operations, operation{on: on, reason: reason})
	}
}
