// Stands above the room that includes it.
