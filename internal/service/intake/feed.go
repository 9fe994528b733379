package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"landfall"
)

// FeedRequest asks for events.
type FeedRequest struct {
	After    landfall.EventPosition
	Begins   bool // from the oldest stored event
	Limit    int
	Supplier string        // "": every one granted
	Wait     time.Duration // how long to wait when there are none
	// Ends is closed when waiting callers should get what there is.
	Ends <-chan struct{}
}

// FeedPage is a part of the log and where the next one starts.
type FeedPage struct {
	Events []landfall.Event
	Next   landfall.EventPosition
}

// Events reads the events of the suppliers that an organisation is granted. Grants
// are read together with the events, so that a revoked grant counts at once,
// however long the caller waited. A supplier granted meanwhile is in the next page.
func (s *Service) Events(ctx context.Context, who landfall.Principal, request FeedRequest) (FeedPage, error) {
	if request.Supplier != "" {
		if err := s.RequireSupplier(ctx, who, request.Supplier); err != nil {
			return FeedPage{}, err
		}
	}
	suppliers, err := s.granted(ctx, who, request.Supplier)
	if err != nil {
		return FeedPage{}, userError(err)
	}
	// Watch before reading, so that nothing in between is missed.
	watch := s.watcher.Watch(suppliers)
	defer watch.Close()
	patience := time.NewTimer(request.Wait)
	defer patience.Stop()
	for {
		page, err := s.readFeed(ctx, who, request)
		if err != nil {
			return FeedPage{}, userError(err)
		}
		if len(page.Events) > 0 || request.Wait == 0 {
			return page, nil
		}
		select {
		case <-watch.News:
		case <-patience.C:
			return page, nil
		case <-request.Ends:
			return page, nil
		case <-ctx.Done():
			// The caller has left, or is disconnected for a reason.
			if refusal, is := errors.AsType[*landfall.Error](context.Cause(ctx)); is {
				return FeedPage{}, refusal
			}
			return page, nil
		}
	}
}

// granted returns the suppliers whose events the caller may read: all granted ones
// or one.
func (s *Service) granted(ctx context.Context, who landfall.Principal, only string) ([]string, error) {
	var suppliers []string
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		suppliers, err = grantedSuppliers(ctx, view, who, only)
		return err
	})
	if err != nil {
		return nil, err
	}
	return suppliers, nil
}

// grantedSuppliers returns a list that is never nil: nil would mean every supplier
// to the store.
func grantedSuppliers(ctx context.Context, view landfall.View, who landfall.Principal, only string) ([]string, error) {
	suppliers, err := view.GrantedSuppliers(ctx, who.Organisation)
	if only != "" {
		suppliers = slices.DeleteFunc(suppliers, func(code string) bool { return code != only })
	}
	return slices.Clip(append([]string{}, suppliers...)), err
}

// readFeed reads a page as far as the log is complete.
func (s *Service) readFeed(ctx context.Context, who landfall.Principal, request FeedRequest) (FeedPage, error) {
	// Before the snapshot is taken: whatever is complete by then is in it.
	complete, err := s.watcher.CompleteUpTo(ctx)
	if err != nil {
		return FeedPage{}, err
	}
	var found []landfall.Event
	next := request.After
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) error {
		suppliers, err := grantedSuppliers(ctx, view, who, request.Supplier)
		if err != nil {
			return err
		}
		gone, err := view.PurgedEvents(ctx)
		if err != nil {
			return err
		}
		if request.Begins {
			// A reader that starts at the oldest event knows that earlier ones are gone,
			// so its cursor must not be refused for that later.
			next.PurgedThrough = latestPurged(gone).ID
		} else if err := checkCursor(ctx, view, request.After, suppliers, gone); err != nil {
			return err
		}
		found, err = view.EventsAfter(ctx, landfall.EventQuery{
			Suppliers: suppliers, After: request.After.ID, UpTo: complete, Limit: request.Limit,
		})
		return err
	})
	if err != nil {
		return FeedPage{}, err
	}
	if len(found) > 0 {
		last := found[len(found)-1].Position()
		next.ID, next.At = last.ID, last.At
	}
	return FeedPage{Events: found, Next: next}, nil
}

// checkCursor refuses a cursor after which events are missing: some were purged, or
// the database was restored to an earlier state and ids are assigned again.
func checkCursor(ctx context.Context, view landfall.View, place landfall.EventPosition, suppliers []string, gone map[string]landfall.EventPosition) error {
	for _, supplier := range suppliers {
		if purged := gone[supplier]; purged.ID > max(place.ID, place.PurgedThrough) {
			return landfall.Refuse(landfall.CodeEventCursorTooOld, fmt.Sprintf(
				"Events after this cursor were removed because their retention period has ended: those of import supplier %s up to %s. "+
					"Start again without a cursor, at the oldest stored event, and use the lists of accounts for what happened in between. "+
					"Repeated events have the same ids.", supplier, purged.At.UTC().Format(time.RFC3339)))
		}
	}
	if place.ID == 0 {
		return nil
	}
	event, err := view.LoggedEvent(ctx, place.ID)
	// The event of the cursor itself may have been purged: the reader has read it.
	if purged := latestPurged(gone); errors.Is(err, landfall.ErrNotFound) && place.ID <= purged.ID && !place.At.After(purged.At) {
		return nil
	}
	if errors.Is(err, landfall.ErrNotFound) || err == nil && !place.Matches(event) {
		return landfall.Refuse(landfall.CodeEventCursorUnknown,
			"The event of this cursor is no longer in the log. Start again without a cursor: repeated events have the same ids.")
	}
	return err
}

// latestPurged is the position up to which events of any supplier were purged.
func latestPurged(gone map[string]landfall.EventPosition) (place landfall.EventPosition) {
	for _, one := range gone {
		place.ID = max(place.ID, one.ID)
		if one.At.After(place.At) {
			place.At = one.At
		}
	}
	return place
}
