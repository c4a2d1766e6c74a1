package jobs

// Running reports whether the job with this name runs.
func (r *Runner) Running(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[name] != nil
}
