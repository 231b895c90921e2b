"""Translations on Ray: an actor for Dataset.map_batches, which loads the model once. Rows carry their number, because blocks may
end in another order than they began; a row that cannot be translated stays, with the reason in a column of its own."""


class Translator:
    """dataset.map_batches(Translator, fn_constructor_kwargs={...}, concurrency=4, num_gpus=1, batch_size=512)"""

    def __init__(self, column="text", to="translation", rejected="rejected", options=None, **model):
        import lapilli

        self.column, self.to, self.rejected, self.options = column, to, rejected, options or {}
        # Ray sets CUDA_VISIBLE_DEVICES to the actor's GPU, which "assigned", the default, heeds.
        self.model = lapilli.shared_model(**model)

    def __call__(self, batch):
        import lapilli

        batch[self.to], batch[self.rejected] = lapilli.translate_column(self.model, batch[self.column], **self.options)
        return batch


def numbered(rows, column="text"):
    """A dataset of texts with their numbers, by which sort("number") restores the order."""
    import ray

    return ray.data.from_items([{"number": number, column: row} for number, row in enumerate(rows)])
